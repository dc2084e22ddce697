import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { RockpoolError, type Schema } from '@rockpool/shared';
import { databaseIds, databasePath, databasesDirectory } from './data-directory.ts';
import { openDatabaseFile, type DatabaseFile } from './database-file.ts';
import { durableOnceSynced, type OpenDatabase } from './durability.ts';
import {
  beginChecksums,
  damageBeforeOpening,
  damaged,
  isTruncated,
  markDamaged,
  sqliteDamage,
  type DamageProblem,
} from './file-damage.ts';
import { LogSync } from './log-sync.ts';
import type { Readiness, Store, StoreEvents } from './store.ts';

/**
 * With less than this the disk counts as full: the largest changeset and the log of its commit need some tens of
 * megabytes.
 */
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/** Opens what syncs the write-ahead log of the database at a path. */
export type OpenLogSync = (databasePath: string) => Pick<LogSync, 'sync' | 'close'>;

export interface SqliteStoreOptions {
  /** Default: 64 MiB. */
  readonly minFreeBytes?: number;
  /** Default: a LogSync. */
  readonly openLogSync?: OpenLogSync;
}

/** One file per database, in a directory that one process has to itself. */
export class SqliteStore implements Store {
  private readonly dataDir: string;
  private readonly schema: Schema;
  private readonly minFreeBytes: number;
  private readonly openLogSync: OpenLogSync;

  constructor(
    dataDir: string,
    schema: Schema,
    { minFreeBytes = MIN_FREE_BYTES, openLogSync = (path) => new LogSync(path) }: SqliteStoreOptions = {},
  ) {
    this.minFreeBytes = minFreeBytes;
    this.openLogSync = openLogSync;
    this.dataDir = dataDir;
    this.schema = schema;
    databasesDirectory(dataDir);
    for (const databaseId of databaseIds(dataDir)) beginChecksums(this.pathOf(databaseId));
  }

  open(databaseId: string, { onLost }: Pick<StoreEvents, 'onLost'>): OpenDatabase {
    const path = this.pathOf(databaseId);
    const problem = damageBeforeOpening(path);
    if (problem !== null) throw damaged(problem);
    const wasLeft = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // While a log is left, what is missing may lie there.
    if (!wasLeft && isTruncated(path)) throw damaged('truncated');
    const file = this.openFile(path, databaseId);
    try {
      if (wasLeft) moveLog(file);
      if (isTruncated(path)) throw damaged('truncated');
      return durableOnceSynced(file, this.openLogSync(path), onLost);
    } catch (error) {
      file.sql.close();
      throw error;
    }
  }

  private openFile(path: string, databaseId: string): DatabaseFile {
    try {
      return openDatabaseFile(path, this.schema, { databaseId });
    } catch (error) {
      throw sqliteDamage(error) ?? error;
    }
  }

  pathOf(databaseId: string): string {
    return databasePath(this.dataDir, databaseId);
  }

  markDamaged(databaseId: string, problem: DamageProblem): void {
    markDamaged(this.pathOf(databaseId), problem);
  }

  async readiness(): Promise<Readiness> {
    const { bavail, bsize } = await statfs(this.dataDir);
    return bavail * bsize < this.minFreeBytes ? 'disk-full' : 'ready';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Whoever had the file before was killed, or its disk failed: the log may hold commits that the disk does not have, and
 * everything that is in the file is told from now on. SQLite syncs the log, and then the file with what it moves there;
 * where that fails, so does opening.
 */
function moveLog({ sql }: DatabaseFile): void {
  if (!sql.checkpoint())
    throw new RockpoolError('database-unavailable', { problem: 'another process is moving the log into the file' });
}
