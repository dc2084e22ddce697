import { decodeKey, encodeKey, type Cell, type CellValue, type Version } from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile, DatabaseReader } from './database-file.ts';

/*
 * A reference to a deleted parent under the rule `set-null`: the app's table has NULL, and rockpool_nulled_reference
 * keeps the reference with its version. Later writes merge with the reference, and it returns with the parent.
 */

/** The columns of a row that are NULL instead of their reference, with the versions of the NULLs. */
export type Nulled = ReadonlyMap<number, Version>;

export const NOTHING_NULLED: Nulled = new Map();

/**
 * Replaces the NULLs of an existing row with their references, and returns the columns. Ignores a reference that was
 * stored for a value other than the current one: the schema may have had a different rule in between.
 */
export function takeReferences(
  file: DatabaseReader,
  table: StoredTable,
  keyBytes: Uint8Array,
  cells: Map<number, Cell>,
): Nulled {
  if (table.nulledColumnIds.size === 0) return NOTHING_NULLED;
  const nulled = new Map<number, Version>();
  for (const [columnId, nulledAt, value, watermark, stampUs, siteNumber] of file.sql.all(
    'SELECT column_id, nulled_at, value, watermark, stamp_us, site_number FROM rockpool_nulled_reference WHERE table_id = ? AND key = ?',
    BigInt(table.schema.id),
    keyBytes,
  )) {
    const cell = cells.get(Number(columnId));
    if (!table.nulledColumnIds.has(Number(columnId)) || cell?.value !== null) continue;
    if (cell.version.watermark !== Number(nulledAt)) continue;
    nulled.set(Number(columnId), cell.version);
    cells.set(Number(columnId), {
      value: decodeKey(value as Uint8Array)[0] ?? null,
      version: {
        watermark: Number(watermark),
        stampUs: Number(stampUs),
        site: file.sites.siteOf(Number(siteNumber)),
      },
    });
  }
  return nulled;
}

/** Replaces the stored references of a row. */
export function keepReferences(
  file: DatabaseFile,
  table: StoredTable,
  keyBytes: Uint8Array,
  cells: ReadonlyMap<number, Cell>,
  nulled: Nulled,
): void {
  if (table.nulledColumnIds.size === 0) return;
  const tableId = BigInt(table.schema.id);
  file.sql.run('DELETE FROM rockpool_nulled_reference WHERE table_id = ? AND key = ?', tableId, keyBytes);
  for (const [columnId, { watermark: nulledAt }] of nulled) {
    const { value, version } = cells.get(columnId) as Cell;
    file.sql.run(
      'INSERT INTO rockpool_nulled_reference (table_id, key, column_id, nulled_at, value, watermark, stamp_us, site_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      tableId,
      keyBytes,
      BigInt(columnId),
      BigInt(nulledAt),
      encodeKey([value]),
      BigInt(version.watermark),
      BigInt(version.stampUs),
      BigInt(file.sites.numberOf(version.site)),
    );
  }
}

/** The keys of the rows of a table in which a column is NULL instead of this reference. */
export function keysWithReference(
  file: DatabaseFile,
  table: StoredTable,
  columnId: number,
  reference: CellValue,
): (readonly CellValue[])[] {
  return file.sql
    .all(
      'SELECT key FROM rockpool_nulled_reference WHERE table_id = ? AND column_id = ? AND value = ?',
      BigInt(table.schema.id),
      BigInt(columnId),
      encodeKey([reference]),
    )
    .map(([key]) => decodeKey(key as Uint8Array));
}

/** The cells as stored in the app's table. */
export function shownCells(cells: ReadonlyMap<number, Cell>, nulled: Nulled): ReadonlyMap<number, Cell> {
  if (nulled.size === 0) return cells;
  const shown = new Map(cells);
  for (const [columnId, version] of nulled) shown.set(columnId, { value: null, version });
  return shown;
}
