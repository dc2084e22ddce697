import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';
import { sqliteCodeOf } from '../sqlite/sqlite-file.ts';

const SQLITE_BUSY = 5;

export interface DirectoryLock {
  release(): void;
}

/**
 * Allows one server process per data directory: two processes would each cache a different end of the log. The lock is
 * an open exclusive transaction on a small SQLite file, so the operating system releases it however the process ends.
 * Throws `database-unavailable` if another server holds it, or if this process may not write to the directory. Like
 * SQLite itself, the lock is not reliable on network file systems.
 */
export function lockDirectory(directory: string): DirectoryLock {
  return lockFile(lockPath(directory), 'another server uses this data directory');
}

/** Locks a directory by a file in it. `held` says who else may hold the lock. Throws like `lockDirectory`. */
export function lockFile(path: string, held: string): DirectoryLock {
  let database: DatabaseSync | null = null;
  try {
    const opened = new DatabaseSync(path);
    database = opened;
    opened.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return { release: () => void opened.close() };
  } catch (error) {
    database?.close();
    const problem = isHeld(error)
      ? held
      : `this process cannot write to ${path}: the disk is read-only, or the file belongs to a different user`;
    throw new RockpoolError('database-unavailable', { problem }, { cause: error });
  }
}

/** Whether a server uses the directory. Creates no file. */
export function isLocked(directory: string): boolean {
  if (!existsSync(lockPath(directory))) return false;
  try {
    lockDirectory(directory).release();
    return false;
  } catch (error) {
    return error instanceof RockpoolError && isHeld(error.cause);
  }
}

function lockPath(directory: string): string {
  return join(directory, 'server.lock');
}

function isHeld(error: unknown): boolean {
  return ((sqliteCodeOf(error) ?? 0) & 0xff) === SQLITE_BUSY;
}
