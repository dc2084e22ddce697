import { RockpoolError } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { brokenForeignKey } from '../sqlite/name-table.ts';

/**
 * Commits the open transaction. Throws SQLite's error and leaves the transaction open. The error of a deferred foreign
 * key names both tables.
 */
export function commit(connection: Connection): void {
  try {
    connection.run('COMMIT');
  } catch (error) {
    if (!(error instanceof RockpoolError) || error.code !== 'constraint-foreign-key' || !connection.inTransaction)
      throw error;
    throw new RockpoolError(error.code, { ...error.fields, ...brokenForeignKey(connection) }, { cause: error });
  }
}
