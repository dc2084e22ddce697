import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';
import { LogEpoch } from '../log/log-epoch.ts';
import { Log } from '../log/log.ts';
import { acceptFile } from './accept-file.ts';
import { removeDatabaseFiles } from './data-directory.ts';
import { claimCopy } from './identity.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

const BUSY_TIMEOUT_MS = 30_000;

/**
 * Writes a compact copy of a SQLite file as it is at one moment, beside whatever writes to it meanwhile. Throws
 * `storage-missing` where there is none.
 */
export function copyDatabase(from: string, to: string): void {
  if (!existsSync(from)) throw new RockpoolError('storage-missing', { path: from });
  // Read-only: a second writer would move the log into the file behind the checksums of its pages.
  const database = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    database.close();
  }
}

/**
 * Puts a copy in its place. It gets a log epoch of its own: what clients have seen since the copy was made is not in
 * it, so each of them loads its state anew and pushes again what this log has lost. Under the id that it had it is the
 * same database, and its clients go on; under another id it is a database of its own, which clients of the original are
 * refused by.
 */
export function restoreDatabase(from: string, to: string, databaseId: string): void {
  removeDatabaseFiles(to);
  copyDatabase(from, to);
  const sql = new SqliteFile(to);
  try {
    sql.transaction(() => {
      const { watermark } = new Log(sql);
      new LogEpoch(sql).renew(watermark, claimCopy(sql, databaseId, watermark));
    });
  } finally {
    sql.close();
  }
  acceptFile(to);
}
