import { statSync } from 'node:fs';
import { RockpoolError, type Schema } from '@rockpool/shared';
import { databasePath, databasesDirectory } from './data-directory.ts';
import { openDatabaseFile, type DatabaseFile } from './database-file.ts';
import { durableOnceSynced, type OpenDatabase } from './durability.ts';
import { LogSync } from './log-sync.ts';
import type { Store, StoreEvents } from './store.ts';

/** One file per database, in a directory that one process has to itself. */
export class SqliteStore implements Store {
  private readonly dataDir: string;
  private readonly schema: Schema;

  constructor(dataDir: string, schema: Schema) {
    this.dataDir = dataDir;
    this.schema = schema;
    databasesDirectory(dataDir);
  }

  open(databaseId: string, { onLost }: Pick<StoreEvents, 'onLost'>): OpenDatabase {
    const path = this.pathOf(databaseId);
    const wasLeft = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const file = openDatabaseFile(path, this.schema);
    try {
      if (wasLeft) moveLog(file);
      return durableOnceSynced(file, new LogSync(path), onLost);
    } catch (error) {
      file.sql.close();
      throw error;
    }
  }

  pathOf(databaseId: string): string {
    return databasePath(this.dataDir, databaseId);
  }

  isReady(): Promise<boolean> {
    return Promise.resolve(true);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Whoever had the file before was killed, or its disk failed: the log may hold commits that the disk does not have, and everything that is in the file is told
 * from now on. SQLite syncs the log, and then the file with what it moves there; where that fails, so does opening.
 */
function moveLog({ sql }: DatabaseFile): void {
  const [isBusy] = sql.get('PRAGMA wal_checkpoint') ?? [];
  if (isBusy !== 0n) throw new RockpoolError('database-unavailable', { problem: 'another process is moving the log into the file' });
}
