import { RockpoolError, type Schema } from '@rockpool/shared';
import type { Validate } from '../backend/validate.ts';
import { LiveDatabase } from './live-database.ts';
import type { Retention } from '../log/retention.ts';
import { databasePath, databasesDirectory } from '../store/data-directory.ts';
import { openDatabaseFile } from '../store/database-file.ts';

/** Files kept open without anybody connected: reopening costs a few milliseconds, an open one a few descriptors and its page cache. */
export const MAX_IDLE_FILES = 64;

export interface DatabaseCacheOptions {
  readonly dataDir: string;
  readonly schema: Schema;
  readonly onFailure: (databaseId: string, error: unknown) => void;
  readonly retention: Retention;
  readonly deliveryPartBytes?: number | undefined;
  readonly validate?: ((databaseId: string) => Validate) | null;
  readonly maxIdleFiles?: number;
}

/** The open databases, each opened once. Those that nobody uses are closed, the least recently used first. */
export class DatabaseCache {
  private readonly options: DatabaseCacheOptions;
  // In order of last use.
  private readonly open = new Map<string, LiveDatabase>();

  constructor(options: DatabaseCacheOptions) {
    this.options = options;
    databasesDirectory(options.dataDir);
  }

  /** Makes the database at its first use. Throws `schema-incompatible` or `database-unavailable`. The id is checked already. */
  get(databaseId: string): LiveDatabase {
    const database = this.open.get(databaseId) ?? this.openFile(databaseId);
    this.open.delete(databaseId);
    this.open.set(databaseId, database);
    this.closeIdle(databaseId);
    return database;
  }

  get count(): number {
    return this.open.size;
  }

  closeAll(): void {
    for (const database of this.open.values()) database.close();
    this.open.clear();
  }

  private openFile(databaseId: string): LiveDatabase {
    try {
      const { dataDir, schema, retention, validate = null, deliveryPartBytes, onFailure } = this.options;
      const file = openDatabaseFile(databasePath(dataDir, databaseId), schema);
      return new LiveDatabase(file, { retention, validate: validate === null ? null : validate(databaseId), deliveryPartBytes, onFailure: (error) => onFailure(databaseId, error) });
    } catch (error) {
      if (error instanceof RockpoolError) throw error;
      throw new RockpoolError('database-unavailable', {}, { cause: error });
    }
  }

  private closeIdle(except: string): void {
    const idle = [...this.open].filter(([databaseId, database]) => databaseId !== except && database.isIdle);
    const tooMany = idle.length - (this.options.maxIdleFiles ?? MAX_IDLE_FILES);
    for (const [databaseId, database] of idle.slice(0, Math.max(0, tooMany))) {
      this.open.delete(databaseId);
      database.close();
    }
  }
}
