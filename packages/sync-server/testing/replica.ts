import {
  columnIdOf,
  EXISTENCE_COLUMN_ID,
  keyToString,
  policiesOf,
  tableIdOf,
  type CellValue,
  type ChangeGroup,
  type Delivery,
  type CellBase,
  type Outcome,
} from '@rockpool/shared';
import { toGroup, type Change } from './changeset.ts';
import { TestSite } from './test-client.ts';
import { TEST_SCHEMA } from './test-schema.ts';

// Pending updates are applied as captured; delivered values replace stored ones.
const POLICIES = new Map(TEST_SCHEMA.tables.map((table) => [table.id, policiesOf(table)]));

type Rows = Map<string, Map<number, CellValue>>;

interface Pending {
  readonly sequence: number;
  readonly base: number;
  readonly groups: readonly ChangeGroup[];
}

/**
 * A minimal client as described in the protocol: server state with pending writes on top. It has no SQL and checks no
 * constraints, so it also sends changes that a server must reject.
 */
export class Replica {
  readonly site: TestSite = new TestSite();
  readonly outcomes: Outcome[] = [];
  private readonly base: Rows = new Map();
  private pending: Pending[] = [];

  get hasPending(): boolean {
    return this.pending.length > 0;
  }

  write(changes: readonly Change[], ageMs = 0, atomic = false): void {
    const groups = changes.map(toGroup);
    const { sequence, base } = this.site.write(changes, {
      cellBases: groups.flatMap((group) => this.cellBases(group)),
      ageMs,
      atomic,
    });
    this.pending.push({ sequence, base, groups });
  }

  apply(delivery: Delivery): void {
    if (!delivery.whole && delivery.from !== this.site.cursor)
      throw new Error(`a delivery from ${delivery.from} arrived while the cursor was ${this.site.cursor}`);
    for (const outcome of delivery.outcomes) {
      const decided = this.pending.shift();
      if (decided?.sequence !== outcome.sequence)
        throw new Error(`outcome ${outcome.sequence} does not belong to the next pending changeset`);
      this.outcomes.push(outcome);
      if (outcome.kind === 'admitted') fold(this.base, decided.groups, 'pending');
    }
    if (delivery.whole) this.base.clear();
    fold(this.base, delivery.groups, 'delivered');
    this.site.cursor = delivery.to;
    this.site.logHashes.set(delivery.to, delivery.logHash);
    this.site.lastAckedSequence = delivery.lastAckedSequence;
  }

  visible(): Rows {
    const rows: Rows = new Map([...this.base].map(([name, cells]) => [name, new Map(cells)]));
    for (const { groups } of this.pending) fold(rows, groups, 'pending');
    return rows;
  }

  /** The cell base of the first pending write, for cells that a later pending write covers again. */
  private cellBases(group: ChangeGroup): CellBase[] {
    const key = group.keys.map((part) => part[0] ?? null);
    const hidden: CellBase[] = [];
    for (const columnId of [EXISTENCE_COLUMN_ID, ...group.columnIds]) {
      const first = this.pending.find(({ groups }) => groups.some((earlier) => covers(earlier, group, columnId)));
      if (first !== undefined && first.base < this.site.cursor)
        hidden.push({ tableId: group.tableId, key, columnId, base: first.base });
    }
    return hidden;
  }
}

function covers(earlier: ChangeGroup, group: ChangeGroup, columnId: number): boolean {
  if (rowName(earlier, 0) !== rowName(group, 0)) return false;
  return earlier.kind !== 'update' || earlier.columnIds.includes(columnId);
}

function fold(rows: Rows, groups: readonly ChangeGroup[], origin: 'pending' | 'delivered'): void {
  for (const group of groups) {
    for (let r = 0; r < group.rowCount; r++) {
      const name = rowName(group, r);
      const cells = group.columnIds.map((columnId, c) => [columnId, group.values[c]?.[r] ?? null] as const);
      if (group.kind === 'delete') rows.delete(name);
      else if (group.kind === 'insert') rows.set(name, new Map(cells));
      else {
        const row = rows.get(name);
        if (row === undefined && origin === 'delivered')
          throw new Error(`an update was delivered for a missing row: ${name}`);
        const policies = origin === 'pending' ? POLICIES.get(group.tableId) : undefined;
        for (const [columnId, value] of cells) {
          const rebase = policies?.byColumn.get(columnId)?.rebase;
          row?.set(columnId, rebase?.pending(row.get(columnId) ?? null, value, 'update') ?? value);
        }
      }
    }
  }
}

function rowName(group: ChangeGroup, row: number): string {
  return rowNameOf(
    group.tableId,
    group.keys.map((part) => part[row] ?? null),
  );
}

export function rowNameOf(tableId: number, key: readonly CellValue[]): string {
  return `${tableId}:${keyToString(key)}`;
}

/** The value of a cell, by the names of its table and column. */
export function cellOf(rows: Rows, table: string, key: readonly CellValue[], column: string): CellValue | undefined {
  return rows.get(rowNameOf(tableIdOf(table), key))?.get(columnIdOf(column));
}
