import { quoteName, type ChangeGroup, type RockpoolError, type TableSchema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { applyRows } from './apply-rows.ts';
import { CellBaseTable } from './cell-base-table.ts';
import { PendingIndex, rowId, type RowRef } from './pending-index.ts';
import { reapplyPending } from './reapply-pending.ts';
import { coveredValues, type RowState } from './row-state.ts';
import { RowWriters } from './row-writers.ts';
import { copySnapshotRows } from './snapshot-file.ts';
import { writeGroups } from './write-rows.ts';

export interface ReplaceRowsInput {
  readonly connection: Connection;
  /** Synced tables and system tables, by id. */
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  /** The pending changes to reapply on top. */
  readonly pending: PendingIndex;
  /** All rows; with a file, the rows that changed after it. */
  readonly groups: readonly ChangeGroup[];
  /** Whether the groups continue from an attached snapshot file. */
  readonly hasFile: boolean;
}

export interface ReplacedRows {
  /** Names of the tables in which something may have changed. */
  readonly touched: ReadonlySet<string>;
  /** Pending changesets that no longer fit. */
  readonly masked: ReadonlyMap<number, RockpoolError | null>;
}

/** Replaces all rows with the server's, then reapplies pending changesets on top. */
export function replaceRows({ connection, tablesById, pending, groups, hasFile }: ReplaceRowsInput): ReplacedRows {
  const writers = new RowWriters(connection, tablesById);
  try {
    connection.exec('DELETE FROM rockpool_base; DELETE FROM rockpool_document_base');
    const differing = hasFile
      ? copySnapshotRows(connection, tablesById.values())
      : emptyTables(connection, tablesById.values());
    // With a file, handles swaps of unique keys, which the changes after the file may contain.
    const written = hasFile
      ? applyRows({ connection, tablesById, pending: new PendingIndex(), outcomeKinds: new Map(), groups }).touched
      : writeGroups(writers, groups);

    const refs = new Map<string, RowRef>();
    for (const sequence of pending.sequences) for (const ref of pending.rowsOf(sequence)) refs.set(rowId(ref), ref);
    const serverRows = new Map<string, RowState>(
      [...refs].map(([id, { tableId, key }]) => [id, writers.of(tableId).read(key)]),
    );
    const visibleRows = new Map(serverRows);
    const masked = reapplyPending({ connection, writers, pending }, pending.sequences, visibleRows);

    const cellBaseTable = new CellBaseTable(connection);
    for (const [id, ref] of refs) {
      const shown = pending.changesOf(ref).filter(({ sequence }) => !masked.has(sequence));
      const { columns } = writers.of(ref.tableId);
      cellBaseTable.write(
        ref,
        new Map(),
        coveredValues(serverRows.get(id) as RowState, visibleRows.get(id) as RowState, shown, columns),
        shown,
        columns,
      );
    }
    writers.finish();
    const underPending = [...refs.values()].map(({ tableId }) => writers.of(tableId).table.name);
    return { touched: new Set([...differing, ...written, ...underPending]), masked };
  } finally {
    writers.release();
  }
}

function emptyTables(connection: Connection, tables: Iterable<TableSchema>): Set<string> {
  const names = [...tables].map(({ name }) => name);
  for (const name of names) connection.exec(`DELETE FROM main.${quoteName(name)}`);
  connection.exec('DELETE FROM rockpool_document');
  return new Set(names);
}
