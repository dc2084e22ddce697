import {
  cellValuesEqual,
  keyToString,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { BaseTable, type HiddenCell } from './base-table.ts';
import { rowId, type PendingIndex, type RowRef } from './pending-index.ts';
import { rebaseRow, type Decisions } from './rebase-row.ts';
import type { DeliveredRow, RowState } from './row-state.ts';
import { RowWriter } from './row-writer.ts';

/*
 * Puts the rows of one delivery into the tables, inside a transaction that the caller has begun with triggers and foreign keys off:
 * effects of triggers and of foreign keys were captured where they happened.
 *
 *   rows without pending changes     written as they come, group by group
 *   rows with pending changes        rebased (rebase-row.ts): visible row = fold of what is pending over the server's row
 *   rows of rejected changesets      the same, without the rejected change
 *
 * Rows of admitted changesets that nothing else touches stand already as they are.
 */

export interface ApplyRowsInput {
  readonly connection: Connection;
  /** Synced tables and system tables, by id. */
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly pending: PendingIndex;
  readonly decisions: Decisions;
  readonly groups: readonly ChangeGroup[];
}

/** Returns the names of the tables in which something may have changed. Throws what SQLite throws; the caller rolls back. */
export function applyRows(input: ApplyRowsInput): Set<string> {
  const { connection, tablesById, groups } = input;
  const base = new BaseTable(connection);
  const simple = input.decisions.size === 0 && input.pending.isEmpty && base.isEmpty();
  const writers = new Writers(connection, tablesById);
  try {
    connection.exec('SAVEPOINT rockpool_rows');
    try {
      const touched = simple ? writeGroups(writers, groups) : rebaseRows(input, base, writers, writeInPlace);
      connection.exec('RELEASE rockpool_rows');
      return touched;
    } catch (thrown) {
      connection.exec('ROLLBACK TO rockpool_rows');
      connection.exec('RELEASE rockpool_rows');
      if (!(thrown instanceof RockpoolError) || !thrown.code.startsWith('constraint-')) throw thrown;
    }
    // Unique keys may have swapped places between rows: then each row in turn is in the way of the other.
    return rebaseRows(input, base, writers, writeAfterRemovingAll);
  } finally {
    writers.release();
  }
}

class Writers {
  private readonly connection: Connection;
  private readonly tablesById: ReadonlyMap<number, TableSchema>;
  private readonly byTable: Map<number, RowWriter> = new Map();

  constructor(connection: Connection, tablesById: ReadonlyMap<number, TableSchema>) {
    this.connection = connection;
    this.tablesById = tablesById;
  }

  of(tableId: number): RowWriter {
    let writer = this.byTable.get(tableId);
    if (writer === undefined) {
      const table = this.tablesById.get(tableId);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { tableId });
      writer = new RowWriter(this.connection, table);
      this.byTable.set(tableId, writer);
    }
    return writer;
  }

  /** The writer of a group's table, after a check that all its columns are known. */
  ofGroup(group: ChangeGroup): RowWriter {
    const writer = this.of(group.tableId);
    for (const columnId of group.columnIds) {
      if (!writer.hasColumn(columnId)) throw new RockpoolError('schema-unknown-column', { table: writer.table.name, columnId });
    }
    if (group.keys.length !== writer.table.primaryKey.length) throw new RockpoolError('changeset-invalid', { table: writer.table.name, problem: 'key parts' });
    return writer;
  }

  release(): void {
    for (const writer of this.byTable.values()) writer.release();
  }
}

// Deletes first, inserts last: what leaves a unique key makes room for what takes it.
const ORDER = { delete: 0, update: 1, insert: 2 } as const;

function inOrder(groups: readonly ChangeGroup[]): ChangeGroup[] {
  return [...groups].sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
}

function writeGroups(writers: Writers, groups: readonly ChangeGroup[]): Set<string> {
  const touched = new Set<string>();
  for (const group of inOrder(groups)) {
    const writer = writers.ofGroup(group);
    writer.writeGroup(group);
    touched.add(writer.table.name);
  }
  return touched;
}

interface RowWrite {
  readonly writer: RowWriter;
  readonly key: readonly CellValue[];
  readonly before: RowState;
  readonly after: RowState;
}

type WriteRows = (writes: readonly RowWrite[]) => void;

function rebaseRows(input: ApplyRowsInput, base: BaseTable, writers: Writers, writeRows: WriteRows): Set<string> {
  const { pending, decisions } = input;
  const delivered = deliveredByRow(writers, input.groups);
  const rows = new Map<string, RowRef>();
  for (const { ref } of delivered.values()) rows.set(rowId(ref), ref);
  const hiddenAnywhere = !base.isEmpty();
  for (const [sequence, decision] of decisions) {
    if (decision === 'admitted' && !hiddenAnywhere) continue;
    for (const ref of pending.rowsOf(sequence)) rows.set(rowId(ref), ref);
  }
  const writes: RowWrite[] = [];
  for (const [id, ref] of rows) {
    const writer = writers.of(ref.tableId);
    const before = writer.read(ref.key);
    const hidden: ReadonlyMap<number, HiddenCell> = hiddenAnywhere ? base.read(ref) : new Map();
    const after = rebaseRow(
      { visible: before, hidden: new Map([...hidden].map(([columnId, { value }]) => [columnId, value])), pending: pending.changesOf(ref) },
      decisions,
      delivered.get(id)?.changes ?? [],
    );
    base.write(ref, hidden, after.hidden, after.pending);
    writes.push({ writer, key: ref.key, before, after: after.visible });
  }
  writeRows(writes);
  return new Set(writes.map(({ writer }) => writer.table.name));
}

interface DeliveredRows {
  readonly ref: RowRef;
  readonly changes: DeliveredRow[];
}

function deliveredByRow(writers: Writers, groups: readonly ChangeGroup[]): Map<string, DeliveredRows> {
  const rows = new Map<string, DeliveredRows>();
  for (const group of inOrder(groups)) {
    writers.ofGroup(group);
    for (let row = 0; row < group.rowCount; row++) {
      const key = group.keys.map((part) => part[row] as CellValue);
      const ref: RowRef = { tableId: group.tableId, key, keyText: keyToString(key) };
      const values = new Map(group.columnIds.map((columnId, index) => [columnId, group.values[index]?.[row] ?? null]));
      const known = rows.get(rowId(ref));
      if (known === undefined) rows.set(rowId(ref), { ref, changes: [{ kind: group.kind, values }] });
      else known.changes.push({ kind: group.kind, values });
    }
  }
  return rows;
}

function writeInPlace(writes: readonly RowWrite[]): void {
  for (const { writer, key, before, after } of writes) if (before.exists && !after.exists) writer.remove(key);
  for (const { writer, key, before, after } of writes) {
    if (!before.exists || !after.exists) continue;
    const changed = [...after.values].filter(([columnId, value]) => !cellValuesEqual(before.values.get(columnId) ?? null, value));
    writer.patch(key, changed.map(([columnId]) => columnId), changed.map(([, value]) => value));
  }
  for (const write of writes) if (!write.before.exists && write.after.exists) put(write);
}

function writeAfterRemovingAll(writes: readonly RowWrite[]): void {
  for (const { writer, key, before } of writes) if (before.exists) writer.remove(key);
  for (const write of writes) if (write.after.exists) put(write);
}

function put({ writer, key, after }: RowWrite): void {
  writer.put(key, [...after.values.keys()], [...after.values.values()]);
}
