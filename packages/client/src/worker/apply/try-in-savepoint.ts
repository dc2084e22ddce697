import { RockpoolError } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/**
 * Runs the body in a savepoint. On a constraint violation, a counter beyond 64 bits (`value-invalid`) or an edit whose
 * base is missing (`document-gap`) it rolls the savepoint back and returns the error. Throws any other error.
 */
export function tryInSavepoint<T>(connection: Connection, body: () => T): T | RockpoolError {
  connection.run('SAVEPOINT rockpool_rows');
  try {
    const result = body();
    connection.run('RELEASE rockpool_rows');
    return result;
  } catch (thrown) {
    if (
      !(thrown instanceof RockpoolError) ||
      !(thrown.code.startsWith('constraint-') || thrown.code === 'value-invalid' || thrown.code === 'document-gap')
    )
      throw thrown;
    connection.run('ROLLBACK TO rockpool_rows');
    connection.run('RELEASE rockpool_rows');
    return thrown;
  }
}
