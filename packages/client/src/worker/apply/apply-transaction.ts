import type { SearchIndexes } from '../search/search-indexes.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface ApplyTransactionParts {
  readonly connection: Connection;
  readonly searchIndexes: SearchIndexes;
}

/**
 * One transaction in which rows are written as they are told: without triggers and foreign keys, whose effects came
 * with the changeset that caused them. Search indexes are no such effects: they are brought up to date here. Rolls back
 * and throws what the body throws.
 */
export function inApplyTransaction<T>({ connection, searchIndexes }: ApplyTransactionParts, body: () => T): T {
  // SQLite ignores these switches inside a transaction.
  connection.setForeignKeys(false);
  connection.setTriggers(false);
  try {
    connection.exec('BEGIN IMMEDIATE');
    try {
      const result = body();
      searchIndexes.catchUp();
      connection.exec('COMMIT');
      return result;
    } catch (thrown) {
      // Some failures of storage have rolled back already.
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw thrown;
    }
  } finally {
    connection.setTriggers(true);
    connection.setForeignKeys(true);
  }
}
