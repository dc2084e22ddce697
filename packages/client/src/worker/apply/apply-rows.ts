import { keyToString, RockpoolError, type CellValue, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { LookupsByTable } from '../write/table-changes.ts';
import { changesOfGroups, changesOfWrites } from './applied-changes.ts';
import { CellBaseTable, type CoveredCell } from './cell-base-table.ts';
import { rowId, type PendingIndex, type RowRef } from './pending-index.ts';
import { reapplyPending } from './reapply-pending.ts';
import { rebaseRow, type OutcomeKinds, type RebaseRules, type RowAfter } from './rebase-row.ts';
import type { DeliveredRow, RowState } from './row-state.ts';
import type { RowWriter } from './row-writer.ts';
import { RowWriters } from './row-writers.ts';
import { tryInSavepoint } from './try-in-savepoint.ts';
import { inWritingOrder, removeAllThenWrite, writeGroups, writeInPlace, type RowWrite } from './write-rows.ts';

/*
 * Writes the rows of one delivery into the tables, in a transaction that the caller began with triggers and foreign
 * keys off. Tries four ways, each slower and for a case that stops the one before. All four end in the same rows:
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
  /** For describing changes to live queries. Default: none, so changes are not described. */
  readonly lookups?: LookupsByTable;
  readonly pending: PendingIndex;
  readonly outcomeKinds: OutcomeKinds;
  readonly groups: readonly ChangeGroup[];
}

export interface AppliedRows {
  /** Names of the tables in which something may have changed. */
  readonly touched: ReadonlySet<string>;
  /** The changes in these tables as far as known, for live queries. */
  readonly changes: readonly TableChange[];
  /** Masked changesets: with the reason if this delivery masked them, else null. */
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
    const touched = tryInSavepoint(connection, () => writeGroups(writers, input.groups));
    if (touched instanceof Set) return { touched, changes, masked: new Map() };
  }
  const rows = new DeliveredRows(input, writers, cellBaseTable);
  const maskedBefore = [...pending.masked].filter((sequence) => !outcomeKinds.has(sequence));
  // A masked changeset may fit now.
  if (maskedBefore.length > 0) return reapplyAll(input, rows, cellBaseTable, writers);
  for (const write of [writeInPlace, removeAllThenWrite]) {
    const writes = tryInSavepoint(connection, () => rebase(rows, cellBaseTable, write));
    if (writes instanceof RockpoolError) continue;
    // Rows that were deleted and inserted have new rowids, so their changes cannot be described.
    return {
      touched: tablesOf(writes),
      changes: write === writeInPlace ? changesOfWrites(lookups, writes) : [],
      masked: new Map(),
    };
  }
  return reapplyAll(input, rows, cellBaseTable, writers);
}

interface TouchedRow {
  readonly ref: RowRef;
  readonly writer: RowWriter;
  readonly before: RowState;
  readonly covered: ReadonlyMap<number, CoveredCell>;
  readonly delivered: readonly DeliveredRow[];
}

/** The rows that a delivery touches, as they were before it. */
class DeliveredRows {
  private readonly input: ApplyRowsInput;
  private readonly writers: RowWriters;
  private readonly cellBaseTable: CellBaseTable;
  private readonly delivered: Map<string, { readonly ref: RowRef; readonly changes: DeliveredRow[] }> = new Map();
  private readonly hasCoveredCells: boolean;

  constructor(input: ApplyRowsInput, writers: RowWriters, cellBaseTable: CellBaseTable) {
    this.input = input;
    this.writers = writers;
    this.cellBaseTable = cellBaseTable;
    this.hasCoveredCells = !cellBaseTable.isEmpty();
    for (const group of inWritingOrder(input.groups)) this.addGroup(group);
  }

  /**
   * The rows that may change: delivered rows; rows of rejected and masked changesets; rows of admitted changesets if
   * any cell is covered; and rows of admitted changesets whose documents have edits still pending, which need the
   * server's document state from now on.
   */
  changing(): TouchedRow[] {
    const { outcomeKinds, pending } = this.input;
    const mayChangeAll = (sequence: number, outcome: 'admitted' | 'rejected'): boolean =>
      outcome === 'rejected' || this.hasCoveredCells || pending.masked.has(sequence);
    const refs = [...outcomeKinds].flatMap(([sequence, outcome]) =>
      pending.rowsOf(sequence).filter((ref) => mayChangeAll(sequence, outcome) || this.hasPendingEdits(ref)),
    );
    return this.rowsAt(refs);
  }

  private hasPendingEdits(ref: RowRef): boolean {
    return (
      this.writers.of(ref.tableId).columns.documents.size > 0 &&
      this.input.pending.changesOf(ref).some(({ sequence }) => !this.input.outcomeKinds.has(sequence))
    );
  }

  /** Delivered rows, and every row that a changeset of the pending index touches. */
  all(): TouchedRow[] {
    const { pending } = this.input;
    return this.rowsAt(pending.sequences.flatMap((sequence) => pending.rowsOf(sequence)));
  }

  after(row: TouchedRow, maskedAfter: ReadonlySet<number>): RowAfter {
    const { outcomeKinds, pending } = this.input;
    const rules: RebaseRules = { outcomeKinds, maskedBefore: pending.masked, maskedAfter };
    const covered = new Map([...row.covered].map(([columnId, { value }]) => [columnId, value]));
    return rebaseRow(
      { visible: row.before, covered, pending: pending.changesOf(row.ref), columns: row.writer.columns },
      row.delivered,
      rules,
    );
  }

  /** The delivered rows and `others`. */
  private rowsAt(others: readonly RowRef[]): TouchedRow[] {
    const refs = new Map([...this.delivered].map(([id, { ref }]) => [id, ref]));
    for (const ref of others) refs.set(rowId(ref), ref);
    return [...refs].map(([id, ref]) => {
      const writer = this.writers.of(ref.tableId);
      const covered: ReadonlyMap<number, CoveredCell> = this.hasCoveredCells ? this.cellBaseTable.read(ref) : new Map();
      if (covered.size > 0) writer.scheduleCleanup(ref.key);
      return { ref, writer, before: writer.read(ref.key), covered, delivered: this.delivered.get(id)?.changes ?? [] };
    });
  }

  private addGroup(group: ChangeGroup): void {
    this.writers.ofGroup(group);
    for (let row = 0; row < group.rowCount; row++) {
      const key = group.keys.map((part) => part[row] as CellValue);
      const ref: RowRef = { tableId: group.tableId, key, keyText: keyToString(key) };
      const values = new Map(group.columnIds.map((columnId, index) => [columnId, group.values[index]?.[row] ?? null]));
      const known = this.delivered.get(rowId(ref));
      if (known === undefined) this.delivered.set(rowId(ref), { ref, changes: [{ kind: group.kind, values }] });
      else known.changes.push({ kind: group.kind, values });
    }
  }
}

function rebase(
  rows: DeliveredRows,
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
  rows: DeliveredRows,
  cellBaseTable: CellBaseTable,
  writers: RowWriters,
): AppliedRows {
  const stillPending = pending.sequences.filter((sequence) => !outcomeKinds.has(sequence));
  const touchedRows = rows.all();
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
