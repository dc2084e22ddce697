import {
  cellValuesEqual,
  policyOf,
  RockpoolError,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import { withChange, type PendingRowChange, type RowState } from '../apply/row-state.ts';
import { RowWriters } from '../apply/row-writers.ts';
import { removeAllThenWrite, writeThenRemove, type RowWrite } from '../apply/write-rows.ts';
import type { DecodedChangeset } from '../changelog/changelog.ts';
import type { Outbox } from '../changelog/outbox.ts';
import type { RejectedTable } from '../changelog/rejected-table.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteTransaction } from './write-transaction.ts';

export interface RejectedParts {
  readonly connection: Connection;
  readonly rejected: RejectedTable;
  readonly outbox: Outbox;
  readonly transaction: WriteTransaction;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
}

/**
 * Writes what a rejected changeset says once more, on top of the present rows, as a new changeset, and takes it off the
 * list. Counters are added to once more. Deletes of rows that have gone do nothing; other deletes take with them what
 * refers to the row by now, as its foreign key says. Throws, and leaves it rejected, when it still does not fit.
 * Triggers of the app do not fire: what they did is part of the changeset.
 *
 * Throws `changeset-not-rejected`; `changeset-undecided` for one that the server may yet admit: it would take effect
 * twice; and `row-missing` where a row that it changes has gone: what is left would be half of what its author wrote.
 */
export function retryRejected(parts: RejectedParts, sequence: number, requestId: string | null = null): WriteOutcome {
  return retryWithTriggersOff(parts, sequence, requestId, requireRow);
}

/**
 * The same where nobody is asked: only if what it replaces stands there as it did, edits of documents and additions
 * apart, which go into whatever is there. Else newer values would give way to it, and nobody would have meant it.
 * Throws `document-gap` then, and leaves it rejected.
 */
export function retryIfUnchanged(parts: RejectedParts, sequence: number): WriteOutcome {
  return retryWithTriggersOff(parts, sequence, null, requireUnchanged);
}

/** What a row is now, and what the rejected changeset found there and did. Throws where that does not fit together. */
type CheckRow = (now: RowState, change: PendingRow, table: TableSchema) => void;

type PendingRow = Pick<PendingRowChange, 'kind' | 'before'>;

function requireRow(now: RowState, { kind }: PendingRow, table: TableSchema): void {
  if (kind === 'update' && !now.exists) throw new RockpoolError('row-missing', { table: table.name });
}

function requireUnchanged(now: RowState, { kind, before }: PendingRow, table: TableSchema): void {
  const isAsItWas = [...before].every(
    ([columnId, value]) =>
      policyOf(table, columnId).accumulates === true || cellValuesEqual(now.values.get(columnId) ?? null, value),
  );
  if (now.exists !== (kind !== 'insert') || !isAsItWas) throw new RockpoolError('document-gap');
}

// Perhaps rows of it exchange unique values, or a row goes with what RESTRICT holds it for: one row of it is in the way
// of another.
const ORDER_DEPENDENT_CONSTRAINTS: ReadonlySet<string> = new Set(['constraint-unique', 'constraint-foreign-key']);

function retryWithTriggersOff(
  parts: RejectedParts,
  sequence: number,
  requestId: string | null,
  check: CheckRow,
): WriteOutcome {
  const { connection } = parts;
  connection.setTriggers(false); // SQLite ignores this switch inside a transaction.
  try {
    return retry(parts, sequence, requestId, check, (writes) => writeUnderForeignKeys(connection, writes));
  } catch (thrown) {
    if (!(thrown instanceof RockpoolError) || !ORDER_DEPENDENT_CONSTRAINTS.has(thrown.code)) throw thrown;
    connection.setForeignKeys(false);
    return retry(parts, sequence, requestId, check, (writes) => removeAllThenCheck(connection, writes));
  } finally {
    connection.setForeignKeys(true);
    connection.setTriggers(true);
  }
}

function retry(
  { connection, rejected, outbox, transaction, tablesById }: RejectedParts,
  sequence: number,
  requestId: string | null,
  check: CheckRow,
  write: (writes: readonly RowWrite[]) => void,
): WriteOutcome {
  return transaction.runInternal(() => {
    const { groups, before, atomic } = requireDecided(rejected, outbox, sequence);
    const writers = new RowWriters(connection, withoutDocuments(tablesById));
    try {
      write(
        groups.flatMap((group, index) =>
          writesOf(writers, group, before[index] ?? { columnIds: [], values: [] }, tablesById, check),
        ),
      );
    } finally {
      writers.release();
    }
    rejected.close(sequence);
    return { atomic };
  }, requestId);
}

/** References are checked in the end: the tables of a changeset are in no order. */
function writeUnderForeignKeys(connection: Connection, writes: readonly RowWrite[]): void {
  connection.exec('PRAGMA defer_foreign_keys = ON'); // Until the transaction ends.
  writeThenRemove(writes);
}

/** The rows go, then come: foreign keys are off, so that nothing goes with them, and are checked in the end. */
function removeAllThenCheck(connection: Connection, writes: readonly RowWrite[]): void {
  const before = brokenForeignKeys(connection);
  removeAllThenWrite(writes);
  if (brokenForeignKeys(connection) > before) throw new RockpoolError('constraint-foreign-key');
}

function brokenForeignKeys(connection: Connection): number {
  return connection.value('SELECT count(*) FROM pragma_foreign_key_check') as number;
}

/** Of documents the JSON is written, like any other text, and captured as the edit that it is now. */
function withoutDocuments(tablesById: ReadonlyMap<number, TableSchema>): ReadonlyMap<number, TableSchema> {
  return new Map([...tablesById].map(([id, table]) => [id, { ...table, merge: { ...table.merge, documents: [] } }]));
}

function writesOf(
  writers: RowWriters,
  captured: ChangeGroup,
  old: BeforeGroup,
  tablesById: ReadonlyMap<number, TableSchema>,
  check: CheckRow,
): RowWrite[] {
  const writer = writers.ofGroup(captured);
  const textOf = (key: readonly CellValue[], columnId: number): CellValue =>
    writer.read(key).values.get(columnId) ?? null;
  const table = tablesById.get(captured.tableId) ?? writer.table;
  const group =
    table.merge.documents.length === 0 ? captured : documentSupport().documentsAsJson(table, captured, old, textOf);
  return Array.from({ length: group.rowCount }, (_, row) => {
    const key = group.keys.map((part) => part[row] as CellValue);
    const values = new Map(group.columnIds.map((columnId, index) => [columnId, group.values[index]?.[row] ?? null]));
    const before = writer.read(key);
    check(
      before,
      {
        kind: group.kind,
        before: new Map(old.columnIds.map((columnId, index) => [columnId, old.values[index]?.[row] ?? null])),
      },
      table,
    );
    return { writer, key, before, after: withChange(before, { kind: group.kind, values }, writer.columns) };
  });
}

/**
 * Carries out statements, and takes a rejected changeset off the list for them: both or neither. Throws like
 * retryRejected, and what the statements throw.
 */
export function replaceRejected(
  { connection, rejected, outbox, transaction }: RejectedParts,
  sequence: number,
  { id, statements }: WriteRequest,
): WriteOutcome {
  return transaction.runInternal(() => {
    const { atomic } = requireDecided(rejected, outbox, sequence);
    const done = connection.underPolicy(transaction.policy, () => transaction.runStatements(statements));
    rejected.close(sequence);
    return { ...done, atomic };
  }, id);
}

/** Takes a rejected changeset off the list for good. Throws like retryRejected. */
export function dropRejected(
  { rejected, outbox, transaction }: RejectedParts,
  sequence: number,
  requestId: string | null = null,
): WriteOutcome {
  return transaction.runInternal(() => {
    requireDecided(rejected, outbox, sequence);
    rejected.close(sequence);
    return { atomic: false };
  }, requestId);
}

function requireDecided(rejected: RejectedTable, outbox: Outbox, sequence: number): DecodedChangeset {
  const { changeset } = rejected.get(sequence);
  if (sequence > outbox.lastAckedSequence()) throw new RockpoolError('changeset-undecided', { sequence });
  return changeset;
}
