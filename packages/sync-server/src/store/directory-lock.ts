import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';

export interface DirectoryLock {
  release(): void;
}

/**
 * Allows one server process per data directory: two processes would each cache a different end of the log. The lock is
 * an open exclusive transaction on a small SQLite file, so the operating system releases it however the process ends.
 * Throws `database-unavailable` if another server holds it. Like SQLite itself, the lock is not reliable on network
 * file systems.
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
