import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { SeenPage } from './page-writes.ts';
import type { Random } from './random.ts';
import type { Tab } from './tab.ts';

/**
 * Conflict-log entries that can be restored on their own. The two halves of a pair and pages need more than one entry.
 */
export function conflictsSeen(tab: Tab): Loss[] {
  const rows = rowsOf(
    tab,
    "SELECT id, table_name, row_key ->> 0, lost_value FROM rockpool_conflict WHERE table_name NOT IN ('half', 'mark') AND path IS NOT '[\"left\"]' AND path IS NOT '[\"right\"]' ORDER BY id",
  );
  return rows.map(([id, table, key, lost]) => ({
    id: String(id),
    table: String(table),
    key: String(key),
    lost: lost as SqlParam,
  }));
}

/** A conflict-log entry. */
export interface Loss {
  readonly id: string;
  readonly table: string;
  /** The first part of the row's key. */
  readonly key: string;
  readonly lost: SqlParam;
}

/** All pages as the tab sees them. */
export function pagesSeen(tab: Tab): SeenPage[] {
  return rowsOf(tab, 'SELECT id, content FROM page ORDER BY id').map(([pageId, content]) => ({
    id: String(pageId),
    content: content as string | null,
  }));
}

/** Picks the key of one of the newest rows, or null. */
export function pickId(tab: Tab, random: Random, table: string): string | null {
  // Few rows, so that devices often choose the same ones.
  const ids = rowsOf(tab, `SELECT id FROM ${table} ORDER BY id DESC LIMIT 4`).flat() as string[];
  return ids.length === 0 ? null : random.pick(ids);
}

export function rowsOf(tab: Tab, sql: string): unknown[][] {
  const database = tab.view;
  if (database === null) return [];
  try {
    return tab.run(() => database.connection.rows(sql));
  } catch {
    return []; // The reader's snapshot is gone; the next read uses a newer one.
  }
}
