import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';
import { Epoch } from '../log/epoch.ts';
import { Log } from '../log/log.ts';
import { SqliteFile } from './sqlite-file.ts';

const BUSY_TIMEOUT_MS = 30_000;

/**
 * Writes a compact copy of a SQLite file as it is at one moment, beside whatever writes to it meanwhile. Throws `storage-missing` where there is none.
 */
export function copyDatabase(from: string, to: string): void {
  if (!existsSync(from)) throw new RockpoolError('storage-missing', { path: from });
  const database = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    database.close();
  }
}

/**
 * Puts a copy in its place. It gets a log epoch of its own: what clients have seen since the copy was made is not in it, so each of them loads its state
 * anew and pushes again what this log has lost.
 */
export function restoreDatabase(from: string, to: string): void {
  for (const suffix of ['-wal', '-shm', '']) rmSync(to + suffix, { force: true });
  copyDatabase(from, to);
  const sql = new SqliteFile(to);
  try {
    sql.transaction(() => new Epoch(sql).renew(new Log(sql).watermark));
  } finally {
    sql.close();
  }
}
