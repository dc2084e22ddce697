import { RockpoolError, type Cell, type CellValue, type Version } from '@rockpool/shared';
import { toColumnValue } from '../documents/document-store.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { sqliteCodeOf } from '../sqlite/sqlite-file.ts';
import { partialInsertSql, updateSql, type StoredTable } from '../sqlite/stored-table.ts';
import { shownCells } from '../store/nulled-references.ts';
import type { KnownRow } from '../store/row-store.ts';
import { constraintError } from './constraint-error.ts';
import type { MergedRow } from './merged-row.ts';
import type { RowWrite } from './row-write.ts';
import type { MergedRows } from './merged-rows.ts';
import { resolveUniqueConflict } from './unique-conflict.ts';

/** The change of one row of an app's table. */
export type RowAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'update'; readonly columnIds: readonly number[] }
  /** `replace`: the row exists and is deleted before any row is inserted. */
  | { readonly kind: 'insert'; readonly replace: boolean; readonly cells: ReadonlyMap<number, Cell> };

export function actionOf({ write: { table }, before, after }: MergedRow): RowAction {
  const old = before?.row.deleted === null ? before.row : undefined;
  const now = after?.row.deleted === null ? after.row : undefined;
  if (old === now) return { kind: 'none' };
  if (now === undefined) return { kind: 'delete' };
  const shown = shownCells(now.cells, (after as KnownRow).nulled);
  if (old === undefined) return { kind: 'insert', replace: false, cells: shown };
  if (old.inserted !== now.inserted) return { kind: 'insert', replace: true, cells: shown };
  const wasNulled = (columnId: number): boolean =>
    before?.nulled.has(columnId) === true && after?.nulled.has(columnId) !== true;
  const columnIds: number[] = [];
  for (const [columnId, cell] of now.cells)
    if (old.cells.get(columnId) !== cell || wasNulled(columnId)) columnIds.push(columnId);
  if (columnIds.length === 0) return { kind: 'none' };
  const canCollide =
    table.uniqueColumnIds === null || columnIds.some((columnId) => table.uniqueColumnIds?.has(columnId));
  return canCollide ? { kind: 'insert', replace: true, cells: shown } : { kind: 'update', columnIds };
}

/**
 * Writes merged rows into the app's tables, in an order in which rows of one changeset never collide: first deletes,
 * including those of rows with changed unique values, which are inserted again; then plain updates; then inserts. Two
 * rows can therefore swap a unique value. A row that still collides does so with a row outside the changeset. It is
 * written after all others, by the unique rule of its table (unique-conflict.ts), and replaces its entry in `rows` if
 * it changes. Throws the constraint's error.
 *
 * With `atomic`, the unique rule does not apply, and a conflict rejects the changeset.
 */
export function writeRows(file: DatabaseFile, rows: MergedRows, version: Version, atomic: boolean): void {
  const planned = rows.all().map((row) => ({ row, action: actionOf(row) }));
  for (const { row, action } of planned) {
    if (action.kind === 'delete' || (action.kind === 'insert' && action.replace))
      file.sql.run(row.write.table.deleteSql, ...row.write.key);
  }
  for (const { row, action } of planned) {
    if (action.kind !== 'update') continue;
    const { table, key } = row.write;
    const values = action.columnIds.map((columnId) =>
      toColumnValue(table, columnId, row.after?.row.cells.get(columnId)?.value ?? null),
    );
    updateCells(file, table, key, action.columnIds, values);
  }
  const colliding: { readonly row: MergedRow; readonly rejection: RockpoolError }[] = [];
  for (const { row, action } of planned) {
    if (action.kind !== 'insert') continue;
    const rejection = insertUnlessTaken(file, row, action.cells);
    if (rejection === null) continue;
    if (atomic) throw rejection;
    colliding.push({ row, rejection });
  }
  for (const { row, rejection } of colliding) {
    rows.set(
      resolveUniqueConflict(
        { file, row, rejection, version, mergedRow: (name) => rows.named(name) },
        ({ write, after }) => insertKnownRow(file, write, after as KnownRow),
      ),
    );
  }
}

/** Returns the `constraint-unique` error if another row has a unique value of the row. */
function insertUnlessTaken(
  file: DatabaseFile,
  { write }: MergedRow,
  cells: ReadonlyMap<number, Cell>,
): RockpoolError | null {
  try {
    insertRow(file, write.table, write.key, cells);
    return null;
  } catch (error) {
    if (error instanceof RockpoolError && error.code === 'constraint-unique') return error;
    throw error;
  }
}

/** Updates columns of an existing row. Throws the error of a violated constraint. */
export function updateCells(
  file: DatabaseFile,
  table: StoredTable,
  key: readonly CellValue[],
  columnIds: readonly number[],
  values: readonly CellValue[],
): void {
  runChecked(file, table, updateSql(table, columnIds), [...values, ...key]);
}

/** Inserts a row with its references, except those that are NULL. */
export function insertKnownRow(file: DatabaseFile, { table, key }: RowWrite, { row, nulled }: KnownRow): void {
  insertRow(file, table, key, shownCells(row.cells, nulled));
}

export function insertRow(
  file: DatabaseFile,
  table: StoredTable,
  key: readonly CellValue[],
  cells: ReadonlyMap<number, Cell>,
): void {
  const valueOf = (columnId: number): CellValue => toColumnValue(table, columnId, cells.get(columnId)?.value ?? null);
  // A column that an older client does not know gets its default.
  if (cells.size === table.values.length)
    return runChecked(file, table, table.insertSql, [...key, ...table.values.map(({ id }) => valueOf(id))]);
  const columnIds = [...cells.keys()];
  runChecked(file, table, partialInsertSql(table, columnIds), [...key, ...columnIds.map(valueOf)]);
}

function runChecked(file: DatabaseFile, table: StoredTable, sql: string, parameters: readonly CellValue[]): void {
  try {
    file.sql.run(sql, ...parameters);
  } catch (error) {
    const code = sqliteCodeOf(error);
    const rejection: RockpoolError | null =
      code === null ? null : constraintError(code, (error as Error).message, table.schema);
    throw rejection ?? error;
  }
}
