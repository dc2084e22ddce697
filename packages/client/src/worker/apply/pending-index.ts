import { keyToString, type BeforeGroup, type CellValue, type ChangeGroup, type CellBase } from '@rockpool/shared';
import type { PendingRowChange } from './row-state.ts';

/** A decoded changeset of the outbox, with its old values. */
export interface PendingChangeset {
  readonly sequence: number;
  readonly base: number;
  readonly groups: readonly ChangeGroup[];
  /** One entry for each group, in the same order. */
  readonly before: readonly BeforeGroup[];
  readonly cellBases: readonly CellBase[];
  /**
   * Whether it is left out of the visible rows, because it violated a constraint. It is still sent: the server decides.
   */
  readonly masked: boolean;
  /** Whether the user has withdrawn it, so that it stays masked even if it fits. Default: false. */
  readonly withdrawn?: boolean;
}

export interface RowRef {
  readonly tableId: number;
  readonly key: readonly CellValue[];
  readonly keyText: string;
}

/** The pending changes of each row, in memory, rebuilt from the outbox. A delivery is applied beneath these changes. */
export class PendingIndex {
  private readonly changesByRow: Map<string, PendingRowChange[]> = new Map();
  private readonly rowsBySequence: Map<number, RowRef[]> = new Map();
  private maskedSequences: Set<number> = new Set();
  /** Pending changesets that stay masked, because the user has withdrawn them. */
  readonly withdrawn: Set<number> = new Set();
  private newest = 0;

  /** The last changeset that was added. Later ones must be read from the outbox. */
  get newestSequence(): number {
    return this.newest;
  }

  get isEmpty(): boolean {
    return this.rowsBySequence.size === 0;
  }

  /** The number of rows with pending changes. */
  get rowCount(): number {
    return this.changesByRow.size;
  }

  add(changeset: PendingChangeset): void {
    const rows: RowRef[] = [];
    const cellBases = cellBasesByRow(changeset.cellBases);
    for (const [index, group] of changeset.groups.entries()) {
      const before = changeset.before[index];
      for (let row = 0; row < group.rowCount; row++) {
        const key = group.keys.map((part) => part[row] as CellValue);
        const ref = { tableId: group.tableId, key, keyText: keyToString(key) };
        rows.push(ref);
        const id = rowId(ref);
        const change: PendingRowChange = {
          sequence: changeset.sequence,
          base: changeset.base,
          cellBases: cellBases.get(id) ?? NO_CELL_BASES,
          kind: group.kind,
          values: rowOf(group.columnIds, group.values, row),
          before: before === undefined ? new Map() : rowOf(before.columnIds, before.values, row),
        };
        const changes = this.changesByRow.get(id);
        if (changes === undefined) this.changesByRow.set(id, [change]);
        else changes.push(change);
      }
    }
    this.rowsBySequence.set(changeset.sequence, rows);
    if (changeset.masked) this.maskedSequences.add(changeset.sequence);
    if (changeset.withdrawn) this.withdrawn.add(changeset.sequence);
    this.newest = Math.max(this.newest, changeset.sequence);
  }

  changesOf(row: RowRef): readonly PendingRowChange[] {
    return this.changesByRow.get(rowId(row)) ?? [];
  }

  /** The change that one changeset makes to a row. */
  changeOf(row: RowRef, sequence: number): PendingRowChange | undefined {
    const changes = this.changesOf(row);
    // A binary search, because changes are in order and a row may have thousands.
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((changes[middle] as PendingRowChange).sequence < sequence) low = middle + 1;
      else high = middle;
    }
    return changes[low]?.sequence === sequence ? changes[low] : undefined;
  }

  /** The pending sequences, in order. */
  get sequences(): readonly number[] {
    return [...this.rowsBySequence.keys()];
  }

  get masked(): ReadonlySet<number> {
    return this.maskedSequences;
  }

  setMasked(sequences: Iterable<number>): void {
    this.maskedSequences = new Set(sequences);
  }

  rowsOf(sequence: number): readonly RowRef[] {
    return this.rowsBySequence.get(sequence) ?? [];
  }

  /** Clears the index. The next delivery reads the outbox again. */
  clear(): void {
    this.changesByRow.clear();
    this.rowsBySequence.clear();
    this.maskedSequences = new Set();
    this.withdrawn.clear();
    this.newest = 0;
  }

  /** Removes acknowledged changesets. Visits each row once, however many of the changesets touch it. */
  remove(sequences: Iterable<number>): void {
    const removed = new Set(sequences);
    const rows = new Set<string>();
    for (const sequence of removed) {
      for (const row of this.rowsOf(sequence)) rows.add(rowId(row));
      this.rowsBySequence.delete(sequence);
    }
    for (const id of rows) {
      const left = (this.changesByRow.get(id) ?? []).filter((change) => !removed.has(change.sequence));
      if (left.length === 0) this.changesByRow.delete(id);
      else this.changesByRow.set(id, left);
    }
  }
}

export function rowId({ tableId, keyText }: RowRef): string {
  return `${tableId}:${keyText}`;
}

const NO_CELL_BASES: ReadonlyMap<number, number> = new Map();

function cellBasesByRow(cellBases: readonly CellBase[]): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const byRow = new Map<string, Map<number, number>>();
  for (const { tableId, key, columnId, base } of cellBases) {
    const id = rowId({ tableId, key, keyText: keyToString(key) });
    const bases = byRow.get(id) ?? new Map<number, number>();
    byRow.set(id, bases.set(columnId, base));
  }
  return byRow;
}

function rowOf(
  columnIds: readonly number[],
  values: readonly (readonly CellValue[])[],
  row: number,
): Map<number, CellValue> {
  return new Map(columnIds.map((columnId, index) => [columnId, values[index]?.[row] ?? null]));
}
