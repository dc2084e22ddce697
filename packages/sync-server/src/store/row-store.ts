import {
  decodeBefore,
  decodeKey,
  encodeBefore,
  RockpoolError,
  type Cell,
  type CellValue,
  type ChangeGroup,
  type StoredRow,
  type Version,
} from '@rockpool/shared';
import { withDocuments } from '../documents/document-store.ts';
import type { DatabaseFile, DatabaseReader } from './database-file.ts';
import { keepReferences, NOTHING_NULLED, shownCells, takeReferences, type Nulled } from './nulled-references.ts';
import { decodeRowVersions, encodeRowVersions, type StoredVersion } from './row-version-codec.ts';
import type { SqlRow } from '../sqlite/sqlite-file.ts';
import { ROWS_PER_SELECT, type StoredTable } from '../sqlite/stored-table.ts';

/** A row, existing or deleted, with its versions. */
export interface KnownRow {
  readonly row: StoredRow;
  readonly bornAt: number;
  /**
   * For a row that was deleted by a cascade: the parent values that it refers to (merge/foreign-keys.ts). Null for any
   * other row.
   */
  readonly waitsFor: Uint8Array | null;
  /** The columns of an existing row that are NULL instead of the reference in `row.cells` (nulled-references.ts). */
  readonly nulled: Nulled;
}

/** Returns undefined if no row with this key was ever admitted. */
export function readKnownRow(
  file: DatabaseReader,
  table: StoredTable,
  key: readonly CellValue[],
  keyBytes: Uint8Array,
): KnownRow | undefined {
  const stored = file.sql.get(
    `SELECT versions, image, waits_for FROM rockpool_row_version WHERE table_id = ? AND key = ?`,
    BigInt(table.schema.id),
    keyBytes,
  );
  if (stored === undefined) return undefined;
  const known = toKnownRow(file, stored, () => readRowValues(file, table, key, keyBytes));
  if (table.nulledColumnIds.size === 0 || known.row.deleted !== null) return known;
  const cells = new Map(known.row.cells);
  const nulled = takeReferences(file, table, keyBytes, cells);
  return nulled.size === 0 ? known : { ...known, row: { ...known.row, cells }, nulled };
}

/** Returns undefined if no tombstone has this key. */
export function readTombstone(file: DatabaseReader, table: StoredTable, keyBytes: Uint8Array): KnownRow | undefined {
  const stored = file.sql.get(
    `SELECT versions, image, waits_for FROM rockpool_row_version WHERE table_id = ? AND key = ? AND image IS NOT NULL`,
    BigInt(table.schema.id),
    keyBytes,
  );
  return stored === undefined ? undefined : toKnownRow(file, stored, () => NO_CELLS);
}

/** Returns all tombstones of a table. */
export function readTombstones(
  file: DatabaseReader,
  table: StoredTable,
): { readonly key: readonly CellValue[]; readonly known: KnownRow }[] {
  return file.sql
    .all(
      `SELECT versions, image, waits_for, key FROM rockpool_row_version WHERE table_id = ? AND image IS NOT NULL`,
      BigInt(table.schema.id),
    )
    .map((stored) => ({ key: decodeKey(stored[3] as Uint8Array), known: toKnownRow(file, stored, () => NO_CELLS) }));
}

const NO_CELLS: ReadonlyMap<number, CellValue> = new Map();

/** `stored` holds the columns versions, image and waits_for. */
function toKnownRow(
  file: DatabaseReader,
  stored: SqlRow,
  readExisting: () => ReadonlyMap<number, CellValue>,
): KnownRow {
  const { bornAt, inserted, revived, updated, deleted, cells, otherSites } = decodeRowVersions(stored[0] as Uint8Array);
  const toVersion = ({ watermark, stampUs, siteNumber }: StoredVersion): Version => ({
    watermark,
    stampUs,
    site: file.sites.siteOf(siteNumber),
  });
  const insertedVersion = toVersion(inserted);
  const values = deleted === null ? readExisting() : readImage(stored[1] as Uint8Array);
  const rowCells = new Map<number, Cell>();
  for (const [columnId, value] of values) {
    const version = cells.get(columnId);
    const otherSite = otherSites.get(columnId);
    rowCells.set(columnId, {
      value,
      version: version === undefined ? insertedVersion : toVersion(version),
      ...(otherSite === undefined ? {} : { otherSite: toVersion(otherSite) }),
    });
  }
  const row: StoredRow = {
    inserted: insertedVersion,
    revived: revived === null ? null : toVersion(revived),
    updated: new Map(updated.map(toVersion).map((version) => [version.site, version])),
    deleted: deleted === null ? null : toVersion(deleted),
    cells: rowCells,
  };
  return { row, bornAt, waitsFor: stored[2] as Uint8Array | null, nulled: NOTHING_NULLED };
}

/** Returns the cells of an existing row, by column id in schema order. */
export function readRowValues(
  file: DatabaseReader,
  table: StoredTable,
  key: readonly CellValue[],
  keyBytes: Uint8Array,
): Map<number, CellValue> {
  return withDocuments(file.sql, table, keyBytes, readColumnValues(file, table, key));
}

/** The key of an existing row, as values and as bytes. */
export interface RowKey {
  readonly key: readonly CellValue[];
  readonly keyBytes: Uint8Array;
}

/** Returns the cells of many rows, in the order of `rows`. */
export function readValuesOfRows(
  file: DatabaseReader,
  table: StoredTable,
  rows: readonly RowKey[],
): Map<number, CellValue>[] {
  const found: Map<number, CellValue>[] = [];
  for (let at = 0; at < rows.length; at += ROWS_PER_SELECT) {
    const batch = rows.slice(at, at + ROWS_PER_SELECT).map(({ key }) => key);
    found.push(
      ...(batch.length === ROWS_PER_SELECT
        ? readBatch(file, table, batch)
        : batch.map((key) => readColumnValues(file, table, key))),
    );
  }
  return rows.map(({ keyBytes }, i) => withDocuments(file.sql, table, keyBytes, found[i] as Map<number, CellValue>));
}

/** Returns the cells as the app's table stores them, with documents as JSON. */
export function readColumnValues(
  file: DatabaseReader,
  table: StoredTable,
  key: readonly CellValue[],
): Map<number, CellValue> {
  return toValues(table, file.sql.get(table.selectSql, ...key));
}

function readBatch(
  file: DatabaseReader,
  table: StoredTable,
  keys: readonly (readonly CellValue[])[],
): Map<number, CellValue>[] {
  const rows = new Array<SqlRow>(keys.length);
  for (const row of file.sql.all(table.selectBatchSql, ...keys.flat())) rows[Number(row.at(-1))] = row;
  return keys.map((_, i) => toValues(table, rows[i]));
}

function toValues(table: StoredTable, row: SqlRow | undefined): Map<number, CellValue> {
  if (row === undefined) {
    // Throws, because another program has deleted the row, and a guess would be sent to every device.
    throw new RockpoolError('storage-corrupt', {
      problem: 'a row is missing, but its version record exists',
      table: table.schema.name,
    });
  }
  return new Map(table.values.map((column, i) => [column.id, row[i] as CellValue]));
}

/** Replaces the versions of a row and, for a deleted row, its image. */
export function writeKnownRow(file: DatabaseFile, table: StoredTable, keyBytes: Uint8Array, known: KnownRow): void {
  const { row, bornAt, waitsFor, nulled } = known;
  const toStored = ({ watermark, stampUs, site }: Version): StoredVersion => ({
    watermark,
    stampUs,
    siteNumber: file.sites.numberOf(site),
  });
  const inserted = toStored(row.inserted);
  const cells = new Map<number, StoredVersion>();
  const otherSites = new Map<number, StoredVersion>();
  for (const [columnId, { version, otherSite }] of shownCells(row.cells, nulled)) {
    if (otherSite !== undefined) otherSites.set(columnId, toStored(otherSite));
    // A cell with the version of the insert is not stored. A NULL instead of a reference always is, because its version
    // has the server as its site, even at the watermark of the insert.
    if (version.watermark === inserted.watermark && !nulled.has(columnId)) continue;
    cells.set(columnId, toStored(version));
  }
  file.sql.run(
    `INSERT INTO rockpool_row_version (table_id, key, watermark, versions, image, waits_for) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET watermark = excluded.watermark, versions = excluded.versions, image = excluded.image, waits_for = excluded.waits_for`,
    BigInt(table.schema.id),
    keyBytes,
    BigInt(highestWatermark(known)),
    encodeRowVersions({
      bornAt,
      inserted,
      revived: row.revived === null ? null : toStored(row.revived),
      updated: [...row.updated.values()].map(toStored),
      deleted: row.deleted === null ? null : toStored(row.deleted),
      cells,
      otherSites,
    }),
    row.deleted === null ? null : encodeImage(row.cells),
    row.deleted === null ? null : waitsFor,
  );
  keepReferences(file, table, keyBytes, row.cells, nulled);
}

/** The watermark of the newest version of the row or a cell, as stored. */
export function highestWatermark({ row: { inserted, revived, deleted, cells }, nulled }: KnownRow): number {
  let highest = Math.max(inserted.watermark, revived?.watermark ?? 0, deleted?.watermark ?? 0);
  for (const [columnId, { version }] of cells) highest = Math.max(highest, (nulled.get(columnId) ?? version).watermark);
  return highest;
}

// An image is encoded as one row of old values of a changeset.
const ONE_ROW: readonly ChangeGroup[] = [
  { tableId: 0, kind: 'delete', rowCount: 1, keys: [], columnIds: [], values: [] },
];

function encodeImage(cells: ReadonlyMap<number, Cell>): Uint8Array {
  return encodeBefore([{ columnIds: [...cells.keys()], values: [...cells.values()].map(({ value }) => [value]) }]);
}

function readImage(bytes: Uint8Array): Map<number, CellValue> {
  const [image] = decodeBefore(bytes, ONE_ROW);
  return new Map(image?.columnIds.map((columnId, c) => [columnId, image.values[c]?.[0] ?? null]));
}
