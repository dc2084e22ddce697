import {
  cellValuesEqual,
  documentColumns,
  lastWriter,
  policyOf,
  RockpoolError,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type TableSchema,
} from '@rockpool/shared';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import { RowWriter } from '../apply/row-writer.ts';
import type { Changelog, DecodedChangeset } from '../changelog/changelog.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import { RequestLog } from './request-log.ts';
import type { WriteTransaction } from './write-transaction.ts';

export interface UndoParts {
  readonly connection: Connection;
  readonly changelog: Changelog;
  readonly transaction: WriteTransaction;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
}

/**
 * Undoes a transaction, named by its request id, by writing its old values in a new transaction. The new transaction is
 * captured and synced like any other, so undoing it redoes the first one. Only cells that the transaction wrote are
 * restored. Other columns keep later values, counters lose what the transaction added, and documents lose its edits.
 * Triggers of the app do not run, because the transaction includes their effects.
 *
 * Throws `undo-refused` and changes nothing, with `problem`
 * - `nothing`: the transaction changed no synced row
 * - `forgotten`: its changeset or request is no longer kept
 * - `rejected`: its changeset is rejected, so its changes are not in the tables
 * - `changed`: a cell that it wrote has been overwritten since, here or elsewhere
 * - `row-gone`, `row-back`: a row that it updated is gone, or a row that it deleted exists again
 * - `referred-to`: a row that it inserted is referred to, or a row that it deleted refers to one that is gone
 * - `schema`: the app no longer has the table or column
 * - a constraint's code: the old values no longer fit
 */
export function undoRequest(parts: UndoParts, undoneRequestId: string, requestId: string): WriteOutcome {
  const { connection, transaction, tablesById } = parts;
  // SQLite ignores these switches inside a transaction. No delete may cascade; references are checked at the end.
  connection.setTriggers(false);
  connection.setForeignKeys(false);
  try {
    return transaction.runInternal(() => {
      const { groups, before, atomic } = findChangeset(parts, undoneRequestId);
      const tables = tablesAround(groups, tablesById);
      const broken = brokenReferences(connection, tables);
      // Undoing inserts first and deletes last frees every unique value before it is needed.
      for (const kind of ['insert', 'update', 'delete'] as const) {
        groups.forEach((group, index) => {
          if (group.kind === kind) undoGroup(parts, group, before[index] ?? { columnIds: [], values: [] });
        });
      }
      if (brokenReferences(connection, tables) > broken) throw undoRefused('referred-to');
      return { atomic };
    }, requestId);
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code.startsWith('constraint-'))
      throw new RockpoolError('undo-refused', { ...thrown.fields, problem: thrown.code }, { cause: thrown });
    throw thrown;
  } finally {
    connection.setForeignKeys(true);
    connection.setTriggers(true);
  }
}

function findChangeset({ connection, changelog, tablesById }: UndoParts, requestId: string): DecodedChangeset {
  const done = new RequestLog({ connection, changelog, tablesById }).find(requestId);
  if (done === null) throw undoRefused('forgotten');
  const { sequence } = done;
  if (sequence === null) throw undoRefused('nothing');
  if (connection.value('SELECT 1 FROM rockpool_parked WHERE sequence = ?', sequence) !== undefined)
    throw undoRefused('rejected');
  const changeset = changelog.read(sequence);
  if (changeset === null) throw undoRefused('forgotten');
  return changeset;
}

function undoGroup({ connection, tablesById }: UndoParts, captured: ChangeGroup, old: BeforeGroup): void {
  const table = tablesById.get(captured.tableId);
  if (table === undefined) throw undoRefused('schema');
  const documents = documentColumns(table);
  // Written as text, as the app writes them: capture converts them to edits.
  const writer = new RowWriter(connection, { ...table, merge: { ...table.merge, documents: [] } });
  try {
    requireColumns(writer, captured, old);
    const { group, before } =
      documents.size === 0
        ? { group: captured, before: old }
        : documentSupport().withDocumentTexts(table, captured, old);
    for (let row = 0; row < group.rowCount; row++) {
      const key = group.keys.map((part) => part[row] as CellValue);
      if (group.kind === 'insert') undoInsert(writer, key, group, row);
      else if (group.kind === 'update') undoUpdate(writer, key, group, before, row, documents);
      else undoDelete(writer, key, before, row);
    }
  } finally {
    writer.release();
  }
}

function requireColumns(writer: RowWriter, { columnIds }: ChangeGroup, before: BeforeGroup): void {
  if ([...columnIds, ...before.columnIds].some((columnId) => !writer.hasColumn(columnId)))
    throw undoRefused('schema', writer.table);
}

function undoInsert(
  writer: RowWriter,
  key: readonly CellValue[],
  { columnIds, values }: ChangeGroup,
  row: number,
): void {
  const now = writer.read(key);
  if (!now.exists) return; // The row is already deleted.
  const isSame = columnIds.every((columnId, index) =>
    cellValuesEqual(now.values.get(columnId) ?? null, values[index]?.[row] ?? null),
  );
  if (!isSame) throw undoRefused('changed', writer.table);
  writer.remove(key);
}

function undoUpdate(
  writer: RowWriter,
  key: readonly CellValue[],
  { columnIds, values }: ChangeGroup,
  before: BeforeGroup,
  row: number,
  documents: ReadonlyMap<number, DocumentRule>,
): void {
  const now = writer.read(key);
  if (!now.exists) throw undoRefused('row-gone', writer.table);
  const restored = columnIds.map((columnId, index) => {
    const current = now.values.get(columnId) ?? null;
    const written = values[index]?.[row] ?? null;
    const old = before.values[before.columnIds.indexOf(columnId)]?.[row] ?? null;
    const { undo = lastWriter.undo } = policyOf(writer.table, columnId);
    const rule = documents.get(columnId);
    const undone =
      rule === undefined ? undo(current, written, old) : documentSupport().undoDocument(current, written, old, rule);
    if (undone === undefined) throw undoRefused('changed', writer.table);
    return undone;
  });
  writer.patch(key, columnIds, restored);
}

function undoDelete(writer: RowWriter, key: readonly CellValue[], before: BeforeGroup, row: number): void {
  if (writer.read(key).exists) throw undoRefused('row-back', writer.table);
  writer.put(
    key,
    before.columnIds,
    before.values.map((column) => column[row] ?? null),
  );
}

/** The names of a changeset's tables, and of the tables that refer to them. */
function tablesAround(groups: readonly ChangeGroup[], tablesById: ReadonlyMap<number, TableSchema>): readonly string[] {
  const names = new Set(groups.map(({ tableId }) => tablesById.get(tableId)?.name));
  return [...tablesById.values()]
    .filter(
      ({ name, foreignKeys }) => names.has(name) || foreignKeys.some(({ foreignTable }) => names.has(foreignTable)),
    )
    .map(({ name }) => name);
}

function brokenReferences(connection: Connection, tables: readonly string[]): number {
  return tables.reduce(
    (sum, table) => sum + (connection.value('SELECT count(*) FROM pragma_foreign_key_check(?)', table) as number),
    0,
  );
}

function undoRefused(problem: string, table?: TableSchema): RockpoolError {
  return new RockpoolError('undo-refused', table === undefined ? { problem } : { problem, table: table.name });
}
