import { decodeKey, encodeKey, quoteName, RockpoolError, type CellValue } from '@rockpool/shared';
import { historyHorizon } from '../log/history-horizons.ts';
import type { SqlRow } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseReader } from '../store/database-file.ts';
import { lastBefore, momentAfter, type FoundMoment } from './past-moment.ts';
import { keptSinceMs, VersionWalk } from './version-walk.ts';

/**
 * Yields the rows of a table with a history at a moment: the parts of the key, then the value columns in schema order,
 * with documents as JSON. Throws `history-moment-gone` with the reason `not-kept` if a version after the moment is
 * missing.
 */
export function* pastRows(
  file: DatabaseReader,
  table: StoredTable,
  { watermark }: FoundMoment,
  nowMs: number,
): Generator<readonly CellValue[]> {
  requireKept(file, table, watermark, nowMs);
  const changed = new Set<string>();
  for (const [keyBytes] of file.sql.all(
    `SELECT key FROM rockpool_history WHERE table_id = ?1 AND watermark > ?2
     UNION SELECT key FROM rockpool_row_version WHERE table_id = ?1 AND watermark > ?2`,
    BigInt(table.schema.id),
    BigInt(watermark),
  )) {
    changed.add(nameOf(keyBytes as Uint8Array));
    const values = rowAt(file, table, keyBytes as Uint8Array, watermark);
    if (values !== null)
      yield [...decodeKey(keyBytes as Uint8Array), ...table.columnIds.map((id) => values.get(id) ?? null)];
  }
  const columns = [...table.keys, ...table.values].map(({ name }) => quoteName(name));
  const order = table.keys.map(({ name }) => quoteName(name));
  for (const row of file.sql.rows(
    `SELECT ${columns.join(', ')} FROM ${quoteName(table.schema.name)} ORDER BY ${order.join(', ')}`,
  ))
    if (changed.size === 0 || !changed.has(nameOf(encodeKey(row.slice(0, table.keys.length))))) yield row;
}

/**
 * Throws if versions after the watermark are pruned, or have expired and may be pruned at any time. Without this check,
 * a walk over the remaining rows would silently omit deleted rows.
 */
export function requireKept(file: DatabaseReader, table: StoredTable, watermark: number, nowMs: number): void {
  const { sql } = file;
  const { id } = table.schema;
  const [expired] = sql.get(
    'SELECT max(watermark) FROM rockpool_history WHERE table_id = ? AND watermark <= ?',
    BigInt(id),
    BigInt(lastBefore(sql, keptSinceMs(table, nowMs))),
  ) as SqlRow;
  const earliest = Math.max(historyHorizon(sql, id), Number(expired ?? 0n));
  if (watermark < earliest) throw notKept(file, table, earliest);
}

function rowAt(
  file: DatabaseReader,
  table: StoredTable,
  keyBytes: Uint8Array,
  watermark: number,
): ReadonlyMap<number, CellValue> | null {
  const walk = new VersionWalk(file, table, keyBytes, -Infinity);
  const values = walk.at(watermark);
  if (walk.missing !== null && walk.missing > watermark)
    // A row may be older than its history, in which case only its newest version is certain.
    throw notKept(file, table, walk.missing === Infinity ? null : walk.missing);
  return values;
}

export function notKept({ sql }: DatabaseReader, { schema }: StoredTable, earliest: number | null): RockpoolError {
  return new RockpoolError('history-moment-gone', {
    reason: 'not-kept',
    table: schema.name,
    earliestMs: earliest === null ? null : momentAfter(sql, earliest),
  });
}

function nameOf(keyBytes: Uint8Array): string {
  return Buffer.from(keyBytes).toString('latin1');
}
