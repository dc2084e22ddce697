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
import { NO_ROW, type RowState } from '../apply/row-state.ts';
import type { RowWriter } from '../apply/row-writer.ts';
import { RowWriters } from '../apply/row-writers.ts';
import { tryInSavepoint } from '../apply/try-in-savepoint.ts';
import { removeAllThenWrite, writeInPlace, type RowWrite } from '../apply/write-rows.ts';
import type { Changelog } from '../changelog/changelog.ts';
import type { DecodedChangeset } from '../changelog/decoded-changeset.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import { RequestLog } from './request-log.ts';
import { withoutDocuments } from './retry-rejected.ts';
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
      // Written as text, as the app writes them: capture converts them to edits.
      const writers = new RowWriters(connection, withoutDocuments(tablesById));
      try {
        const writes = groups.flatMap((group, index) =>
          undoneRows(writers, tablesById, group, before[index] ?? { columnIds: [], values: [] }),
        );
        if (tryInSavepoint(connection, () => writeInPlace(writes)) instanceof RockpoolError) removeAllThenWrite(writes);
      } finally {
        writers.release();
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

/** The rows of a group without the changes of the group. */
function undoneRows(
  writers: RowWriters,
  tablesById: UndoParts['tablesById'],
  captured: ChangeGroup,
  old: BeforeGroup,
): RowWrite[] {
  const table = tablesById.get(captured.tableId);
  if (table === undefined) throw undoRefused('schema');
  const documents = documentColumns(table);
  const writer = writers.of(table.id);
  if ([...captured.columnIds, ...old.columnIds].some((columnId) => !writer.hasColumn(columnId)))
    throw undoRefused('schema', table);
  const { group, before } =
    documents.size === 0 ? { group: captured, before: old } : documentSupport().withDocumentTexts(table, captured, old);
  return Array.from({ length: group.rowCount }, (_, row): RowWrite => {
    const key = group.keys.map((part) => part[row] as CellValue);
    const now = writer.read(key);
    const after =
      group.kind === 'insert'
        ? undoInsert(table, now, group, row)
        : group.kind === 'update'
          ? undoUpdate(writer, now, group, before, row, documents)
          : undoDelete(table, now, before, row);
    return { writer, key, before: now, after };
  });
}

/** The row may be deleted already. */
function undoInsert(table: TableSchema, now: RowState, { columnIds, values }: ChangeGroup, row: number): RowState {
  const isSame = columnIds.every((columnId, index) =>
    cellValuesEqual(now.values.get(columnId) ?? null, values[index]?.[row] ?? null),
  );
  if (now.exists && !isSame) throw undoRefused('changed', table);
  return NO_ROW;
}

function undoUpdate(
  { table }: RowWriter,
  now: RowState,
  { columnIds, values }: ChangeGroup,
  before: BeforeGroup,
  row: number,
  documents: ReadonlyMap<number, DocumentRule>,
): RowState {
  if (!now.exists) throw undoRefused('row-gone', table);
  const restored = columnIds.map((columnId, index): [number, CellValue] => {
    const current = now.values.get(columnId) ?? null;
    const written = values[index]?.[row] ?? null;
    const old = before.values[before.columnIds.indexOf(columnId)]?.[row] ?? null;
    const { undo = lastWriter.undo } = policyOf(table, columnId);
    const rule = documents.get(columnId);
    const undone =
      rule === undefined ? undo(current, written, old) : documentSupport().undoDocument(current, written, old, rule);
    if (undone === undefined) throw undoRefused('changed', table);
    return [columnId, undone];
  });
  return { exists: true, values: new Map([...now.values, ...restored]) };
}

function undoDelete(table: TableSchema, now: RowState, { columnIds, values }: BeforeGroup, row: number): RowState {
  if (now.exists) throw undoRefused('row-back', table);
  return {
    exists: true,
    values: new Map(columnIds.map((columnId, index) => [columnId, values[index]?.[row] ?? null])),
  };
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
