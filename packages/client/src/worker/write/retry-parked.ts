import { RockpoolError, type TableSchema } from '@rockpool/shared';
import { RowWriter } from '../apply/row-writer.ts';
import type { Parked } from '../changelog/parked.ts';
import type { WriteOutcome } from '../database/local-database.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteTransaction } from './write-transaction.ts';

export interface RetryParts {
  readonly connection: Connection;
  readonly parked: Parked;
  readonly transaction: WriteTransaction;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
}

/**
 * Writes what a parked changeset says once more, on top of the present rows, as a new changeset, and takes it off the list. Updates and
 * deletes of rows that have gone do nothing. Throws, and leaves it parked, when it still does not fit; rows that exchanged unique values
 * within it do not fit either, as they are written one after the other.
 */
export function retryParked({ connection, parked, transaction, tablesById }: RetryParts, sequence: number): WriteOutcome {
  return transaction.runInternal(() => {
    for (const group of parked.get(sequence).changeset.groups) {
      const table = tablesById.get(group.tableId);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { tableId: group.tableId });
      const writer = new RowWriter(connection, table);
      try {
        writer.writeGroup(group);
      } finally {
        writer.release();
      }
    }
    parked.drop(sequence);
  });
}
