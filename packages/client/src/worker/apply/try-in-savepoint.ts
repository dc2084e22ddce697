import { RockpoolError } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/**
 * Runs the body; when a constraint stands against it, a counter would leave 64 bits, or an edit lacks what it builds
 * on, nothing of it happened and the reason is returned.
 */
export function tryInSavepoint<T>(connection: Connection, body: () => T): T | RockpoolError {
  connection.exec('SAVEPOINT rockpool_rows');
  try {
    const result = body();
    connection.exec('RELEASE rockpool_rows');
    return result;
  } catch (thrown) {
    if (
      !(thrown instanceof RockpoolError) ||
      !(thrown.code.startsWith('constraint-') || thrown.code === 'value-invalid' || thrown.code === 'document-gap')
    )
      throw thrown;
    connection.exec('ROLLBACK TO rockpool_rows');
    connection.exec('RELEASE rockpool_rows');
    return thrown;
  }
}
