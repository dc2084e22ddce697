import type { SearchIndexes } from '../search/search-indexes.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface ApplyTransactionParts {
  readonly connection: Connection;
  readonly searchIndexes: SearchIndexes;
}

/**
 * Runs the body in one transaction with triggers and foreign keys off: the changesets already carry the effects of
 * both. Search indexes are local, so they catch up before the commit. Rolls back on any error of the body and rethrows
 * it.
 */
export function inApplyTransaction<T>({ connection, searchIndexes }: ApplyTransactionParts, body: () => T): T {
  // SQLite ignores these switches inside a transaction.
  connection.setForeignKeys(false);
  connection.setTriggers(false);
  try {
    connection.run('BEGIN IMMEDIATE');
    try {
      const result = body();
      searchIndexes.catchUp();
      connection.run('COMMIT');
      return result;
    } catch (thrown) {
      // Some storage errors roll back the transaction by themselves.
      if (connection.inTransaction) connection.run('ROLLBACK');
      throw thrown;
    }
  } finally {
    connection.setTriggers(true);
    connection.setForeignKeys(true);
  }
}
