import type { Schema } from '@rockpool/shared';
import { databasePath, databasesDirectory } from './data-directory.ts';
import { openDatabaseFile } from './database-file.ts';
import { durableInFile, type OpenDatabase } from './durability.ts';
import type { Store } from './store.ts';

/** One file per database, in a directory that one process has to itself. */
export class SqliteStore implements Store {
  private readonly dataDir: string;
  private readonly schema: Schema;

  constructor(dataDir: string, schema: Schema) {
    this.dataDir = dataDir;
    this.schema = schema;
    databasesDirectory(dataDir);
  }

  open(databaseId: string): OpenDatabase {
    return durableInFile(openDatabaseFile(this.pathOf(databaseId), this.schema));
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
