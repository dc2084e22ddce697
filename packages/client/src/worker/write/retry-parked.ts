import { RockpoolError, type CellValue, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import { withChange } from '../apply/row-state.ts';
import { RowWriter } from '../apply/row-writer.ts';
import type { DecodedChangeset } from '../changelog/changelog.ts';
import type { Outbox } from '../changelog/outbox.ts';
import type { Parked } from '../changelog/parked.ts';
import type { WriteOutcome } from '../database/local-database.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteTransaction } from './write-transaction.ts';

export interface ParkedParts {
  readonly connection: Connection;
  readonly parked: Parked;
  readonly outbox: Outbox;
  readonly transaction: WriteTransaction;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
}

/**
 * Writes what a parked changeset says once more, on top of the present rows, as a new changeset, and takes it off the list. Counters are
 * added to once more. Updates and deletes of rows that have gone do nothing. Throws, and leaves it parked, when it still does not fit; rows
 * that exchanged unique values within it do not fit either, as they are written one after the other. Triggers of the app do not fire: what they did
 * is part of the changeset.
 *
 * Throws `changeset-not-parked`, and `changeset-undecided` for one that the server may yet admit: it would take effect twice.
 */
export function retryParked({ connection, parked, outbox, transaction, tablesById }: ParkedParts, sequence: number, requestId: string | null = null): WriteOutcome {
  const write = (): { readonly atomic: boolean } => {
    const { groups, atomic } = requireDecided(parked, outbox, sequence);
    for (const group of groups) {
      const table = tablesById.get(group.tableId);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { tableId: group.tableId });
      const writer = new RowWriter(connection, table);
      try {
        writeAgain(writer, group);
      } finally {
        writer.release();
      }
    }
    parked.close(sequence);
    return { atomic };
  };
  connection.setTriggers(false); // SQLite ignores this switch inside a transaction.
  try {
    return transaction.runInternal(write, requestId);
  } finally {
    connection.setTriggers(true);
  }
}

/** Takes a parked changeset off the list for good. Throws like retryParked. */
export function dropParked({ parked, outbox, transaction }: ParkedParts, sequence: number, requestId: string | null = null): WriteOutcome {
  return transaction.runInternal(() => {
    requireDecided(parked, outbox, sequence);
    parked.close(sequence);
    return { atomic: false };
  }, requestId);
}

function requireDecided(parked: Parked, outbox: Outbox, sequence: number): DecodedChangeset {
  const { changeset } = parked.get(sequence);
  if (sequence > outbox.decidedUpTo()) throw new RockpoolError('changeset-undecided', { sequence });
  return changeset;
}

function writeAgain(writer: RowWriter, group: ChangeGroup): void {
  const { kind, keys, columnIds } = group;
  if (kind !== 'update' || !columnIds.some((columnId) => writer.counters.has(columnId))) return writer.writeGroup(group);
  for (let row = 0; row < group.rowCount; row++) {
    const key = keys.map((part) => part[row] as CellValue);
    const values = new Map(columnIds.map((columnId, index) => [columnId, group.values[index]?.[row] ?? null]));
    const after = withChange(writer.read(key), { kind, values }, writer.counters);
    if (after.exists) writer.patch(key, columnIds, columnIds.map((columnId) => after.values.get(columnId) ?? null));
  }
}
