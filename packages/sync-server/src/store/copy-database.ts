import { existsSync, rmSync } from 'node:fs';
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
 * Writes a compact copy of a SQLite file as of one moment, while other processes may keep writing to it. Throws
 * `storage-missing` if the file does not exist. A call that throws leaves no new file.
 */
export function copyDatabase(from: string, to: string): void {
  if (!existsSync(from)) throw new RockpoolError('storage-missing', { path: from });
  const isNew = !existsSync(to);
  // Read-only: a second writer would run WAL checkpoints without updating the page checksums.
  const database = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } catch (error) {
    // SQLite leaves behind what it wrote before the failure, such as a full disk.
    if (isNew) rmSync(to, { force: true });
    throw error;
  } finally {
    database.close();
  }
}

/**
 * Installs a copy as a database. The copy gets a new log epoch, because it lacks everything that clients have seen
 * since: each client does a full resync and pushes again what this log lacks. Under its original id the copy keeps its
 * identity, and its clients continue. Under a different id it becomes a separate database, which rejects clients of the
 * original.
 */
export function restoreDatabase(from: string, to: string, databaseId: string): void {
  removeDatabaseFiles(to);
  copyDatabase(from, to);
  beginRestoredLog(to, databaseId);
}

/**
 * Begins a new log epoch in a file that lacks what clients have seen since, and writes its checksums. Throws
 * `database-damaged` if SQLite’s integrity check fails.
 */
export function beginRestoredLog(to: string, databaseId: string): void {
  const sql = new SqliteFile(to);
  try {
    sql.transaction(() => {
      const logEpoch = new LogEpoch(sql);
      const { watermark } = new Log(sql, logEpoch);
      logEpoch.renew(watermark, claimCopy(sql, databaseId, watermark));
    });
  } finally {
    sql.close();
  }
  acceptFile(to);
}
