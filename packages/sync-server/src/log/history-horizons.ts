import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/*
 * The history horizon of a table: rows that were deleted at or below it may be missing from its history, because their
 * versions or tombstones are pruned. Above it, every row that existed can be found. 0 if it is not stored.
 */

export function historyHorizon(sql: SqliteFile, tableId: number): number {
  return readHorizons(sql)[tableId] ?? 0;
}

/** Raises horizons. `raised` has the id of each table and its new horizon, which may be lower than the stored one. */
export function raiseHistoryHorizons(sql: SqliteFile, raised: readonly (readonly unknown[])[]): void {
  if (raised.length === 0) return;
  const horizons = readHorizons(sql);
  for (const [tableId, horizon] of raised)
    horizons[Number(tableId)] = Math.max(horizons[Number(tableId)] ?? 0, Number(horizon));
  writeMeta(sql, 'history_horizons', JSON.stringify(horizons));
}

function readHorizons(sql: SqliteFile): Record<number, number> {
  return JSON.parse((readMeta(sql, 'history_horizons') as string | undefined) ?? '{}') as Record<number, number>;
}
