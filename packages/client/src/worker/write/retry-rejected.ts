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
import type { DecodedChangeset } from '../changelog/decoded-changeset.ts';
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
 * Writes the changes of a rejected changeset again, on top of the current rows, as a new changeset, and closes the
 * rejected one. Counter deltas add to the current value. A delete of a missing row does nothing; other deletes cascade
 * to current references as their foreign keys say. Triggers of the app do not run, because the changeset includes their
 * effects. The new changeset names the rejected one as its origin, so that retries in two copies of a file count once.
 *
 * Throws, and leaves the changeset rejected,
 * - `changeset-not-rejected` if it is not rejected,
 * - `changeset-undecided` if the server may still admit it, because it would then take effect twice, or if the rows
 *   still show it,
 * - `row-missing` if a row that it updates is gone, because the rest would be only a part of what its author wrote,
 * - `document-gone` or `document-place-missing` if the same is true of a document or a place in it,
 * - a constraint's error if it still does not fit.
 */
export function retryRejected(parts: RejectedParts, sequence: number, requestId: string | null = null): WriteOutcome {
  return retryWithTriggersOff(parts, sequence, requestId, requireRow);
}

/**
 * Retries a rejected changeset without asking the user: only if the values that it replaces are unchanged, so that it
 * overwrites no newer values. In a document, each place that it changes is such a value; a place may also have the new
 * value already. Counter deltas apply to any value. A row that it deletes must be unchanged as a whole. Throws
 * `document-gap`, or like `retryRejected`, otherwise, and leaves the changeset rejected.
 */
export function retryIfUnchanged(parts: RejectedParts, sequence: number): WriteOutcome {
  return retryWithTriggersOff(parts, sequence, null, requireUnchanged);
}

/** Throws if a change of the rejected changeset must not be applied to the current row. */
type CheckRow = (now: RowState, change: PendingRow, table: TableSchema) => void;

type PendingRow = Pick<PendingRowChange, 'kind' | 'before'>;

function requireRow(now: RowState, { kind }: PendingRow, table: TableSchema): void {
  if (kind === 'update' && !now.exists) throw new RockpoolError('row-missing', { table: table.name });
}

function requireUnchanged(now: RowState, { kind, before }: PendingRow, table: TableSchema): void {
  // An update adds to counters and documents, but a delete also deletes what others have added.
  const isUnchanged = [...before].every(
    ([columnId, value]) =>
      (kind === 'update' && policyOf(table, columnId).accumulates === true) ||
      cellValuesEqual(now.values.get(columnId) ?? null, value),
  );
  if (now.exists !== (kind !== 'insert') || !isUnchanged) throw new RockpoolError('document-gap');
}

// Constraints that may be satisfied if the rows are written in a different order: rows may swap unique values, or
// RESTRICT may protect a row whose references are deleted in the same changeset.
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
  parts: RejectedParts,
  sequence: number,
  requestId: string | null,
  check: CheckRow,
  write: (writes: readonly RowWrite[]) => void,
): WriteOutcome {
  const { connection, rejected, transaction, tablesById } = parts;
  return transaction.runInternal(() => {
    const { groups, before, atomic } = requireDecided(parts, sequence);
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
    const { changelog, meta } = transaction.parts;
    const origin = changelog.originOf(sequence, meta.siteId);
    rejected.close(sequence);
    return { atomic, origin, rejected: check === requireUnchanged && sequence };
  }, requestId);
}

/** Defers foreign keys, because the tables of a changeset come in no particular order. */
function writeUnderForeignKeys(connection: Connection, writes: readonly RowWrite[]): void {
  connection.exec('PRAGMA defer_foreign_keys = ON'); // The deferral lasts until the transaction ends.
  writeThenRemove(writes);
}

/**
 * Deletes all rows, then inserts them. Foreign keys are off, so that no delete cascades, and are checked at the end.
 */
function removeAllThenCheck(connection: Connection, writes: readonly RowWrite[]): void {
  const before = brokenForeignKeys(connection);
  removeAllThenWrite(writes);
  if (brokenForeignKeys(connection) > before) throw new RockpoolError('constraint-foreign-key');
}

function brokenForeignKeys(connection: Connection): number {
  return connection.value('SELECT count(*) FROM pragma_foreign_key_check') as number;
}

/** The tables with documents as plain text columns: their JSON is written, and captured as an edit. */
export function withoutDocuments(tablesById: ReadonlyMap<number, TableSchema>): ReadonlyMap<number, TableSchema> {
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
  const table = tablesById.get(captured.tableId) ?? writer.table;
  const textOf = (key: readonly CellValue[], columnId: number): CellValue => {
    const now = writer.read(key);
    if (!now.exists) check(now, { kind: captured.kind, before: new Map() }, table);
    return now.values.get(columnId) ?? null;
  };
  const hasDocuments = table.merge.documents.length > 0;
  const group = hasDocuments
    ? documentSupport().documentsAsJson(table, captured, old, check === requireUnchanged, textOf)
    : captured;
  const { columnIds, values: olds } = hasDocuments
    ? documentSupport().withDocumentTexts(table, captured, old).before
    : old;
  return Array.from({ length: group.rowCount }, (_, row) => {
    const key = group.keys.map((part) => part[row] as CellValue);
    const values = new Map(group.columnIds.map((columnId, index) => [columnId, group.values[index]?.[row] ?? null]));
    const before = writer.read(key);
    check(
      before,
      {
        kind: group.kind,
        before: new Map(columnIds.map((columnId, index) => [columnId, olds[index]?.[row] ?? null])),
      },
      table,
    );
    return { writer, key, before, after: withChange(before, { kind: group.kind, values }, writer.columns) };
  });
}

/**
 * Runs statements instead of a rejected changeset and closes it, in one transaction. Throws like retryRejected, and the
 * errors of the statements.
 */
export function replaceRejected(
  parts: RejectedParts,
  sequence: number,
  { id, statements }: WriteRequest,
): WriteOutcome {
  const { connection, rejected, transaction } = parts;
  return transaction.runInternal(() => {
    const { atomic } = requireDecided(parts, sequence);
    const results = connection.underPolicy(transaction.policy, () => transaction.runStatements(statements));
    rejected.close(sequence);
    return { results, atomic };
  }, id);
}

/** Closes a rejected changeset without writing. Throws like retryRejected. */
export function dropRejected(parts: RejectedParts, sequence: number, requestId: string | null = null): WriteOutcome {
  const { rejected, transaction } = parts;
  return transaction.runInternal(() => {
    requireDecided(parts, sequence);
    rejected.close(sequence);
    return { atomic: false };
  }, requestId);
}

function requireDecided({ rejected, outbox, transaction }: RejectedParts, sequence: number): DecodedChangeset {
  const stored = rejected.get(sequence);
  if (rejected.isUndecided(stored, outbox.lastAckedSequence(), transaction.parts.meta))
    throw new RockpoolError('changeset-undecided', { sequence });
  return stored.changeset;
}
