import type { Reads } from '../../rpc/reads.ts';
import type { OpenDatabase } from './open-database.ts';

/**
 * Reads from a database of this worker. `committed`: see OpenedDatabase; nobody gets to see what might yet be undone, so where commits are stored
 * behind, a result waits for what it shows to be stored, and is read once more if that failed.
 */
export function localReads(database: OpenDatabase, committed?: () => Promise<void>): Reads {
  async function read<T>(run: () => T): Promise<T> {
    if (committed === undefined) return run();
    const result = run();
    try {
      await committed();
      return result;
    } catch {
      // Whoever wrote it is told why. What stands now has been stored.
      return run();
    }
  }
  return {
    query: ({ sql, params }) => read(() => database.query(sql, params)),
    dependencies: (statement) => read(() => database.dependencies(statement)),
    listParked: () => read(() => database.listParked()),
  };
}
