import { RockpoolError, type Schema } from '@rockpool/shared';
import { memoryMedium, openStorage, opfsSharedMedium, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import type { OpenedDatabase } from '../leader/membership.ts';
import type { Durability } from '../rpc/worker-api.ts';
import { openDatabase, type OpenDatabase } from './database/open-database.ts';
import { loadSqlite } from './sqlite/load-sqlite.ts';
import { withReadAgain } from './read-again.ts';
import { storageFailure } from './storage-failure.ts';

export interface LocalOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly durability: Durability;
  readonly storage: 'opfs' | 'memory';
}

/** Opens the database of this worker, as often as its role changes. */
export type OpenLocal = (role: 'writer' | 'reader') => Promise<OpenedDatabase<OpenDatabase>>;

/** Storage, SQLite and our tables, put together. SQLite is loaded once; what lies in memory outlives a closing and reopening. */
export function createLocalOpener(options: LocalOptions): OpenLocal {
  const { name, schema, durability } = options;
  const medium: Medium = options.storage === 'memory' ? memoryMedium() : opfsSharedMedium();
  const whenLoaded = loadSqlite();
  whenLoaded.catch(() => undefined); // Whoever opens hears of it.

  return async (role) => {
    // Both at once: neither needs the other.
    const opening = openStorage({ name, medium, role, durability });
    const [storage, runtime] = await Promise.all([opening, whenLoaded]).catch(async (thrown: unknown) => {
      await opening.then(
        (opened) => opened.close(),
        () => undefined,
      );
      throw storageFailure(thrown);
    });
    try {
      // One Emscripten module; each package declares the part of it that it uses.
      storage.register(runtime.module as unknown as StorageModule);
      const database = openDatabase({
        runtime,
        path: storage.path,
        vfsName: storage.vfsName,
        role,
        schema,
        randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
        nowMs: () => Date.now(),
        flush: () => storage.flush(),
        storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)),
      });
      return {
        database: role === 'reader' ? withReadAgain(database) : database,
        close: async () => {
          database.close();
          await storage.close();
        },
      };
    } catch (thrown) {
      await storage.close().catch(() => undefined);
      throw thrown instanceof RockpoolError ? thrown : storageFailure(thrown);
    }
  };
}
