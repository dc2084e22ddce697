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
    const error = rowError(thrown);
    connection.run('ROLLBACK TO rockpool_rows');
    connection.run('RELEASE rockpool_rows');
    return error;
  }
}

/** Like `tryInSavepoint`, for a body of at most one statement, which SQLite reverts by itself when it fails. */
export function tryStatement<T>(body: () => T): T | RockpoolError {
  try {
    return body();
  } catch (thrown) {
    return rowError(thrown);
  }
}

function rowError(thrown: unknown): RockpoolError {
  if (
    !(thrown instanceof RockpoolError) ||
    !(thrown.code.startsWith('constraint-') || thrown.code === 'value-invalid' || thrown.code === 'document-gap')
  )
    throw thrown;
  return thrown;
}
