import { basename } from 'node:path';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { Destination } from './destination.ts';
import { fetchPages, type FetchedPages, type FetchOptions } from './fetch-pages.ts';
import { damaged } from './page-section.ts';
import type { RestorePlan } from './restore-plan.ts';

/**
 * Fetches a database file, and checks that its log ends at the watermark of the last copy. Continues and throws like
 * fetchPages.
 */
export async function fetchDatabase(
  destination: Destination,
  plan: RestorePlan,
  path: string,
  options: FetchOptions,
): Promise<FetchedPages> {
  const fetched = await fetchPages(destination, plan, path, options);
  requireWatermark(path, fetched.watermark);
  return fetched;
}

function requireWatermark(path: string, watermark: number | null): void {
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    const [found] = sql.get('SELECT watermark FROM rockpool_log ORDER BY watermark DESC LIMIT 1') ?? [];
    if (watermark !== null && Number(found ?? 0) !== watermark)
      throw damaged(basename(path), 'the log of the file ends at a different watermark');
  } finally {
    sql.close();
  }
}
