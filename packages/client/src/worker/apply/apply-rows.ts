import { RockpoolError, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { LookupsByTable } from '../invalidate/table-changes.ts';
import { changesOfGroups, changesOfWrites } from '../invalidate/applied-changes.ts';
import { CellBaseTable } from './cell-base-table.ts';
import { rowId, type PendingIndex } from './pending-index.ts';
import { reapplyPending } from './reapply-pending.ts';
import type { OutcomeKinds } from './rebase-row.ts';
import type { RowState } from './row-state.ts';
import { RowWriters } from './row-writers.ts';
import { TouchedRows } from './touched-rows.ts';
import { tryInSavepoint, tryStatement } from './try-in-savepoint.ts';
import { removeAllThenWrite, writeGroups, writeInPlace, type RowWrite } from './write-rows.ts';

/*
 * Writes the rows of one delivery into the tables, in a transaction that the caller began with triggers and foreign
 * keys off. Tries four ways; each is slower and handles a case that the one before cannot. All produce the same rows:
 *
 *   1 straight      no changeset is pending: writes the groups as delivered
 *   2 in place      rebases the touched rows beneath the pending changes (rebase-row.ts), and writes what differs
 *   3 remove first  unique keys swap: deletes the rows, then inserts them
 *   4 reapply all   a pending changeset conflicts with the server's rows: removes all pending changesets, then
 *                   reapplies them one by one and masks those that no longer fit
 *
 * Masked changesets are sent like any other, and shown again once they fit or are admitted.
 */

export interface ApplyRowsInput {
  readonly connection: Connection;
  /** Synced tables and system tables, by id. */
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  /**
   * For each table, how its changes are described to live queries. Default: none; the result then describes no changes.
   */
  readonly lookups?: LookupsByTable;
  readonly pending: PendingIndex;
  readonly outcomeKinds: OutcomeKinds;
  readonly groups: readonly ChangeGroup[];
  /** Whether changesets have been withdrawn since the last call. Default: false. */
  readonly withdraws?: boolean;
}

export interface AppliedRows {
  /** Names of the tables in which something may have changed. */
  readonly touched: ReadonlySet<string>;
  /** The changes in these tables, for live queries, if they are known. */
  readonly changes: readonly TableChange[];
  /** The masked changesets, each with the reason if this delivery masked it, and with null otherwise. */
  readonly masked: ReadonlyMap<number, RockpoolError | null>;
}

const NO_LOOKUPS: LookupsByTable = new Map();

/** Throws SQLite's error when the server's rows alone violate a constraint; the caller rolls back. */
export function applyRows(input: ApplyRowsInput): AppliedRows {
  const writers = new RowWriters(input.connection, input.tablesById);
  try {
    const applied = applyWithWriters(writers, input);
    writers.finish();
    return applied;
  } finally {
    writers.release();
  }
}

function applyWithWriters(writers: RowWriters, input: ApplyRowsInput): AppliedRows {
  const { connection, pending, outcomeKinds, lookups = NO_LOOKUPS } = input;
  const cellBaseTable = new CellBaseTable(connection);
  if (outcomeKinds.size === 0 && pending.isEmpty && cellBaseTable.isEmpty()) {
    const changes = changesOfGroups(connection, lookups, input.groups);
    const write = (): Set<string> => writeGroups(writers, input.groups);
    const touched = isOneStatement(writers, input.groups) ? tryStatement(write) : tryInSavepoint(connection, write);
    if (touched instanceof Set) return { touched, changes, masked: new Map() };
  }
  const rows = new TouchedRows(input, writers, cellBaseTable);
  const maskedBefore = [...pending.masked].filter((sequence) => !outcomeKinds.has(sequence));
  // Reapplies all pending changesets, because a masked one may fit now.
  if (maskedBefore.length > 0 || input.withdraws) return reapplyAll(input, rows, cellBaseTable, writers);
  for (const write of [writeInPlace, removeAllThenWrite]) {
    const writes = tryInSavepoint(connection, () => rebase(rows, cellBaseTable, write));
    if (writes instanceof RockpoolError) continue;
    // Rows that were deleted and inserted again have new rowids, so their changes cannot be described.
    return {
      touched: tablesOf(writes),
      changes: write === writeInPlace ? changesOfWrites(lookups, writes) : [],
      masked: new Map(),
    };
  }
  return reapplyAll(input, rows, cellBaseTable, writers);
}

/** Whether one statement can write the groups: they have one row, and no documents, whose states are separate rows. */
function isOneStatement(writers: RowWriters, groups: readonly ChangeGroup[]): boolean {
  const [group] = groups;
  return groups.length === 1 && group?.rowCount === 1 && writers.ofGroup(group).columns.documents.size === 0;
}

function rebase(
  rows: TouchedRows,
  cellBaseTable: CellBaseTable,
  write: (writes: readonly RowWrite[]) => void,
): RowWrite[] {
  const writes: RowWrite[] = [];
  for (const row of rows.changing()) {
    const after = rows.after(row, new Set());
    cellBaseTable.write(row.ref, row.covered, after.covered, after.shown, row.writer.columns);
    writes.push({ writer: row.writer, key: row.ref.key, before: row.before, after: after.visible });
  }
  write(writes);
  return writes;
}

function tablesOf(rows: readonly Pick<RowWrite, 'writer'>[]): Set<string> {
  return new Set(rows.map(({ writer }) => writer.table.name));
}

function reapplyAll(
  { connection, pending, outcomeKinds }: ApplyRowsInput,
  rows: TouchedRows,
  cellBaseTable: CellBaseTable,
  writers: RowWriters,
): AppliedRows {
  const stillPending = pending.sequences.filter((sequence) => !outcomeKinds.has(sequence));
  const touchedRows = rows.withAllPending();
  const everything = new Set(stillPending);
  const current = new Map<string, RowState>();
  const serverRows = touchedRows.map((row): RowWrite => {
    const after = rows.after(row, everything).serverRow;
    current.set(rowId(row.ref), after);
    return { writer: row.writer, key: row.ref.key, before: row.before, after };
  });
  removeAllThenWrite(serverRows);

  const masked = reapplyPending({ connection, writers, pending }, stillPending, current);
  const maskedAfter = new Set(masked.keys());
  for (const row of touchedRows) {
    const after = rows.after(row, maskedAfter);
    cellBaseTable.write(row.ref, row.covered, after.covered, after.shown, row.writer.columns);
  }
  return { touched: tablesOf(touchedRows), changes: [], masked };
}
