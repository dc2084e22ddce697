import type { Schema } from '@rockpool/shared';
import { databasePath, databasesDirectory } from './data-directory.ts';
import { openDatabaseFile } from './database-file.ts';
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
    const file = openDatabaseFile(path, this.schema);
    try {
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
