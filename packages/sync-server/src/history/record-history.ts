import { cellValuesEqual, spliceBetween, type CellValue } from '@rockpool/shared';
import { toColumnValue } from '../documents/document-store.ts';
import { isThere, type MergedRow } from '../merge/merged-row.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { highestWatermark, readColumnValues, type KnownRow } from '../store/row-store.ts';
import { encodeHistoryEntry, type HistoryEntry, type ReplacedValue } from './history-entry.ts';

/** The JSON of documents before a changeset, by the name of the row. */
export type DocumentTexts = ReadonlyMap<string, ReadonlyMap<number, CellValue>>;

/**
 * Reads the documents of rows with a history from the app's table. Call it before the rows are written: reading their
 * JSON is cheaper than deriving it from the documents' states.
 */
export function readDocumentTexts(file: DatabaseFile, rows: readonly MergedRow[]): DocumentTexts {
  const texts = new Map<string, ReadonlyMap<number, CellValue>>();
  for (const { write, before, after } of rows) {
    const { table } = write;
    if (table.schema.history === undefined || table.documents.size === 0) continue;
    if (before !== after && isThere(before)) texts.set(write.name, readColumnValues(file, table, write.key));
  }
  return texts;
}

/**
 * Stores the versions that a changeset created in tables that declare a history: the rows after all merges, including
 * rows that a cascade deleted. Call it after the rows are written to the app's tables.
 */
export function recordHistory(
  file: DatabaseFile,
  rows: readonly MergedRow[],
  watermark: number,
  texts: DocumentTexts,
): void {
  for (const row of rows) {
    const { table, keyBytes } = row.write;
    if (table.schema.history === undefined || row.before === row.after) continue;
    const entry = entryOf(file, row, texts.get(row.write.name));
    if (entry === null) continue;
    file.sql.run(
      'INSERT INTO rockpool_history (table_id, key, watermark, entry) VALUES (?, ?, ?, ?)',
      BigInt(table.schema.id),
      keyBytes,
      BigInt(watermark),
      encodeHistoryEntry(entry),
    );
  }
}

/**
 * Null if there is no new version, or for the first insert of a row, which is derived from the row's other versions.
 */
function entryOf(
  file: DatabaseFile,
  row: MergedRow,
  texts: ReadonlyMap<number, CellValue> | undefined,
): HistoryEntry | null {
  const { write, before, after } = row;
  if (after === undefined || (before === undefined && isThere(after))) return null;
  const previous = before === undefined ? 0 : highestWatermark(before);
  if (previous === highestWatermark(after)) return null;
  const chain = { previous, previousIsFirst: before !== undefined && isFirstInsert(before) };
  if (!isThere(before)) return { kind: isThere(after) ? 'insert' : 'update', ...chain, replaced: new Map() };
  const old = (columnId: number): CellValue =>
    texts?.get(columnId) ?? columnValue(write.table, before as KnownRow, columnId);
  const columnIds = [...(before as KnownRow).row.cells.keys()];
  if (!isThere(after)) {
    const replaced = new Map(columnIds.map((columnId) => [columnId, { value: old(columnId) }]));
    return { kind: 'delete', ...chain, replaced };
  }
  return { kind: 'update', ...chain, replaced: replacedValues(file, row, columnIds, old) };
}

/** Whether the row has only one version: its first insert, which has no entry. */
export function isFirstInsert(known: KnownRow): boolean {
  return known.row.deleted === null && known.bornAt === highestWatermark(known);
}

/** The value in the app's table. A reference may be NULL there while its parent is deleted. */
function columnValue(table: StoredTable, { row, nulled }: KnownRow, columnId: number): CellValue {
  return nulled.has(columnId) ? null : toColumnValue(table, columnId, row.cells.get(columnId)?.value ?? null);
}

function replacedValues(
  file: DatabaseFile,
  { write, before, after }: MergedRow,
  columnIds: readonly number[],
  old: (columnId: number) => CellValue,
): Map<number, ReplacedValue> {
  const { table } = write;
  const replaced = new Map<number, ReplacedValue>();
  let stored: ReadonlyMap<number, CellValue> | null = null;
  for (const columnId of columnIds) {
    const isSame = before?.row.cells.get(columnId) === after?.row.cells.get(columnId);
    if (isSame && before?.nulled.has(columnId) === after?.nulled.has(columnId)) continue;
    // The app's table has the JSON of a document, and the default of a column that an older client omitted.
    if (table.documents.has(columnId) || !after?.row.cells.has(columnId))
      stored ??= readColumnValues(file, table, write.key);
    const now = stored === null ? columnValue(table, after as KnownRow, columnId) : (stored.get(columnId) ?? null);
    const then = old(columnId);
    if (!cellValuesEqual(then, now)) replaced.set(columnId, replacedValue(then, now));
  }
  return replaced;
}

// Text shorter than this is stored whole, because a splice would take more bytes.
const MIN_SPLICED = 48;

function replacedValue(then: CellValue, now: CellValue): ReplacedValue {
  if (typeof then !== 'string' || typeof now !== 'string' || then.length < MIN_SPLICED) return { value: then };
  const splice = spliceBetween(now, then);
  return splice.middle.length > then.length / 2 ? { value: then } : { splice };
}
