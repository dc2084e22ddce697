import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { SERVER_SITE_NUMBER } from '../sqlite/internal-tables.ts';

/** A site that has written, as recorded in its database file. */
export interface StoredSite {
  /** 32 hex digits. */
  readonly site: string;
  /** The principal of the last push by the site. */
  readonly principal: string;
  /** The last decided changeset. */
  readonly lastSequence: number;
  /** The watermark up to which the site has stored the log durably, in the current log epoch. */
  readonly confirmedCursor: number;
  /** Null if no changeset of the site was admitted. */
  readonly lastWriteMs: number | null;
  readonly rejections: readonly Rejection[];
}

/** Changesets of a site that were rejected with one code, in the last 30 days or not confirmed yet. */
export interface Rejection {
  readonly code: string;
  readonly count: number;
  readonly lastMs: number;
}

const MAX_SITES = 1_000;

/** Reads the sites of a database file, last writer first, at most 1,000, even while a server has it open. */
export function inspectSites(path: string): StoredSite[] {
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    const rejections = new Map<number, Rejection[]>();
    for (const [number, code, count, lastMs] of sql.all(
      `SELECT site_number, error_code, count(*), max(decided_ms) FROM rockpool_outcome
       WHERE error_code IS NOT NULL GROUP BY site_number, error_code`,
    ))
      rejections.set(Number(number), [
        ...(rejections.get(Number(number)) ?? []),
        { code: code as string, count: Number(count), lastMs: Number(lastMs) },
      ]);
    return sql
      .all(
        `SELECT number, site, principal, last_sequence, confirmed_cursor, last_ms FROM rockpool_site
         LEFT JOIN (SELECT site_number, max(received_ms) AS last_ms FROM rockpool_log GROUP BY site_number) ON site_number = number
         WHERE number <> ${SERVER_SITE_NUMBER} ORDER BY last_ms DESC, number LIMIT ${MAX_SITES}`,
      )
      .map(([number, site, principal, lastSequence, confirmedCursor, lastMs]) => ({
        site: Buffer.from(site as Uint8Array).toString('hex'),
        principal: principal as string,
        lastSequence: Number(lastSequence),
        confirmedCursor: Number(confirmedCursor),
        lastWriteMs: lastMs === null ? null : Number(lastMs),
        rejections: rejections.get(Number(number)) ?? [],
      }));
  } finally {
    sql.close();
  }
}
