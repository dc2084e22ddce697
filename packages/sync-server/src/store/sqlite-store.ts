import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { RockpoolError, type Schema } from '@rockpool/shared';
import { readSqliteHeader } from '../sqlite/sqlite-header.ts';
import { databaseIds, databasePath, databasesDirectory } from './data-directory.ts';
import { outlineOfFile, type DatabaseOutline } from './database-outline.ts';
import { openDatabaseFile, type DatabaseFile } from './database-file.ts';
import { durableOnceSynced, type OpenDatabase } from './durability.ts';
import {
  createChecksumFile,
  damageBeforeOpening,
  damagedError,
  isTruncated,
  markDamaged,
  sqliteDamage,
  type DamageProblem,
} from './file-damage.ts';
import { isFileChanging } from './file-change.ts';
import { LogSync } from './log-sync.ts';
import { readUnloadedMark } from './unloaded-mark.ts';
import type { Readiness, Store, StoreEvents } from './store.ts';

/**
 * With less free space than this, the disk counts as full: the largest changeset and the write-ahead log of its commit
 * need tens of megabytes.
 */
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/** Opens the object that syncs the write-ahead log of the database at a path. */
export type OpenLogSync = (databasePath: string) => Pick<LogSync, 'sync' | 'close'>;

export interface SqliteStoreOptions {
  /** Default: 64 MiB. */
  readonly minFreeBytes?: number;
  /** Default: a LogSync. */
  readonly openLogSync?: OpenLogSync;
}

/** Stores one file per database, in a directory that belongs to one process. */
export class SqliteStore implements Store {
  private readonly dataDir: string;
  private readonly schema: Schema;
  private readonly minFreeBytes: number;
  private readonly openLogSync: OpenLogSync;
  // Databases whose disk has failed: a later successful sync proves nothing about their logs.
  private readonly lost = new Set<string>();
  // Why databases cannot have the schema. To find that out may take reading a whole column.
  private readonly refused = new Map<string, { readonly stamp: string; readonly error: RockpoolError }>();

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
    for (const databaseId of databaseIds(dataDir)) createChecksumFile(this.pathOf(databaseId));
  }

  open(databaseId: string, { onLost }: Pick<StoreEvents, 'onLost'>): OpenDatabase {
    const path = this.pathOf(databaseId);
    if (isFileChanging(path))
      throw new RockpoolError('database-unavailable', {
        problem: 'the server stopped while it was replacing or moving the database file; restart it to finish',
      });
    const unloaded = readUnloadedMark(path);
    if (unloaded !== null)
      throw new RockpoolError('database-unavailable', {
        problem: `the database is unloaded to ${unloaded.destination}: start the server with --backup-to`,
      });
    const problem = damageBeforeOpening(path);
    if (problem !== null) throw damagedError(problem);
    // If a log remains, a server was killed or its disk failed.
    const hasLeftoverLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (isTruncated(path)) throw damagedError(readSqliteHeader(path) === null ? 'not-sqlite' : 'truncated');
    const file = this.openFile(path, databaseId);
    try {
      if (hasLeftoverLog && this.lost.has(databaseId)) writeAgain(file);
      this.lost.delete(databaseId);
      const lose = (error: unknown): void => {
        this.lost.add(databaseId);
        onLost(error);
      };
      return durableOnceSynced(file, this.openLogSync(path), lose, { isSynced: !hasLeftoverLog });
    } catch (error) {
      file.sql.close();
      throw error;
    }
  }

  private openFile(path: string, databaseId: string): DatabaseFile {
    const known = this.refused.get(databaseId);
    if (known !== undefined && known.stamp === stampOf(path)) throw known.error;
    this.refused.delete(databaseId);
    try {
      return openDatabaseFile(path, this.schema, { databaseId });
    } catch (error) {
      // An error of SQLite, such as a full disk, may pass.
      if (error instanceof RockpoolError && error.code === 'schema-incompatible' && error.cause === undefined)
        this.refused.set(databaseId, { stamp: stampOf(path), error });
      throw sqliteDamage(error) ?? error;
    }
  }

  pathOf(databaseId: string): string {
    return databasePath(this.dataDir, databaseId);
  }

  list(): Promise<string[]> {
    return Promise.resolve(databaseIds(this.dataDir, { withMissing: true }));
  }

  outline(databaseId: string): Promise<DatabaseOutline> {
    return Promise.resolve(outlineOfFile(this.pathOf(databaseId)));
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
 * Moves the log into the file: its pages are written and synced once more. After a sync has failed, the system may
 * count pages of the log as written that the disk does not have.
 */
function writeAgain({ sql }: DatabaseFile): void {
  if (!sql.checkpoint())
    throw new RockpoolError('database-unavailable', { problem: 'another process is running a WAL checkpoint' });
}

/** Changes when the file or its write-ahead log is written or replaced. */
function stampOf(path: string): string {
  return JSON.stringify(
    [path, `${path}-wal`].map((one) => {
      const { ino, size, mtimeMs } = statSync(one, { throwIfNoEntry: false }) ?? {};
      return [ino, size, mtimeMs];
    }),
  );
}
