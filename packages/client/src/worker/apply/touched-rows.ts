import { keyToString, type CellValue, type ChangeGroup } from '@rockpool/shared';
import type { CellBaseTable, CoveredCell } from './cell-base-table.ts';
import { rowId, type PendingIndex, type RowRef } from './pending-index.ts';
import { rebaseRow, type OutcomeKinds, type RebaseRules, type RowAfter } from './rebase-row.ts';
import type { DeliveredChange, RowState } from './row-state.ts';
import type { RowWriter } from './row-writer.ts';
import type { RowWriters } from './row-writers.ts';
import { inWritingOrder } from './write-rows.ts';

export interface TouchedRowsInput {
  readonly pending: PendingIndex;
  readonly outcomeKinds: OutcomeKinds;
  readonly groups: readonly ChangeGroup[];
}

/** A row that a delivery changes: its state before, and the changes. */
export interface TouchedRow {
  readonly ref: RowRef;
  readonly writer: RowWriter;
  readonly before: RowState;
  readonly covered: ReadonlyMap<number, CoveredCell>;
  readonly delivered: readonly DeliveredChange[];
}

/** The rows that a delivery touches. */
export class TouchedRows {
  private readonly input: TouchedRowsInput;
  private readonly writers: RowWriters;
  private readonly cellBaseTable: CellBaseTable;
  private readonly delivered: Map<string, { readonly ref: RowRef; readonly changes: DeliveredChange[] }> = new Map();
  private readonly hasCoveredCells: boolean;

  constructor(input: TouchedRowsInput, writers: RowWriters, cellBaseTable: CellBaseTable) {
    this.input = input;
    this.writers = writers;
    this.cellBaseTable = cellBaseTable;
    this.hasCoveredCells = !cellBaseTable.isEmpty();
    for (const group of inWritingOrder(input.groups)) this.addGroup(group);
  }

  /**
   * The rows that may change: delivered rows, and rows of changesets with an outcome if
   * - the changeset is rejected or was masked,
   * - any cell is covered, or
   * - documents of the row have edits still pending, which need the server's document state from now on.
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

  /** Delivered rows, and every row that a changeset in the pending index touches. */
  withAllPending(): TouchedRow[] {
    const { pending } = this.input;
    return this.rowsAt(pending.sequences.flatMap((sequence) => pending.rowsOf(sequence)));
  }

  /** The row after the delivery, if these changesets are masked. */
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

  /** The delivered rows, and those of `others`. */
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
