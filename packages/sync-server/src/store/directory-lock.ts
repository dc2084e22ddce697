import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';

export interface DirectoryLock {
  release(): void;
}

/**
 * One server process per data directory: two would each keep their own idea of a log's end.
 * The lock is an open exclusive transaction on a small SQLite file, so the system releases it however the process ends.
 * Throws `database-unavailable` when another server holds it. Not reliable on network file systems, nor is SQLite.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const database = new DatabaseSync(join(directory, 'server.lock'));
  try {
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw new RockpoolError(
      'database-unavailable',
      { problem: 'another server uses this data directory' },
      { cause: error },
    );
  }
  return { release: () => void database.close() };
}
