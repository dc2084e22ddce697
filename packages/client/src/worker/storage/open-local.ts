import { RockpoolError, type Schema } from '@rockpool/shared';
import { openStorage, type Medium, type SqliteModule as StorageModule, type Storage } from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import type { OpenedDatabase } from '../../leader/opened-database.ts';
import type { Migration } from '../../rpc/migration.ts';
import type { Durability } from '../../rpc/worker-api.ts';
import { localReads } from '../database/local-reads.ts';
import { openDatabase, type OpenDatabase } from '../database/open-database.ts';
import { loadSqlite } from '../sqlite/load-sqlite.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { withReadAgain } from './read-again.ts';
import { withReadsBeside } from './with-reads-beside.ts';
import { storageFailure } from './storage-failure.ts';

export interface LocalOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly migrations: readonly Migration[] | null;
  readonly durability: Durability;
  readonly medium: Medium;
}

/** Opens the database of this worker, as often as its role changes. */
export type OpenLocal = (role: 'writer' | 'reader', onUndone: () => void) => Promise<OpenedDatabase<OpenDatabase>>;

/** Storage, SQLite and our tables, put together. SQLite is loaded once; what lies in memory outlives a closing and reopening. */
export function createLocalOpener(options: LocalOptions): OpenLocal {
  const { name, durability, medium } = options;
  const whenLoaded = loadSqlite();
  whenLoaded.catch(() => undefined); // Whoever opens hears of it.

  const open: OpenLocal = async (role, onUndone) => {
    // Both at once: neither needs the other.
    const opening = openStorage({ name, medium, role, durability, onUndone });
    const [storage, runtime] = await Promise.all([opening, whenLoaded]).catch(async (thrown: unknown) => {
      await opening.then(
        (opened) => opened.close(),
        () => undefined,
      );
      throw storageFailure(thrown);
    });
    try {
      return openOn(storage, runtime, options);
    } catch (thrown) {
      await storage.close().catch(() => undefined);
      throw thrown instanceof RockpoolError ? thrown : storageFailure(thrown);
    }
  };

  return async (role, onUndone) => {
    const opened = await open(role, onUndone);
    return role === 'writer' && medium.allowsReaders ? withReadsBeside(opened, () => open('reader', () => undefined)) : opened;
  };
}

function openOn(storage: Storage, runtime: SqliteRuntime, { schema, migrations }: LocalOptions): OpenedDatabase<OpenDatabase> {
  // One Emscripten module; each package declares the part of it that it uses.
  storage.register(runtime.module as unknown as StorageModule);
  const isStoredBehind = storage.persistence === 'indexeddb';
  const opened = openDatabase({
    runtime,
    path: storage.path,
    vfsName: storage.vfsName,
    role: storage.role,
    schema,
    migrations,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    nowMs: () => Date.now(),
    // IndexedDB has no such call: what it means by `durability` holds for every commit.
    flush: () => (isStoredBehind ? undefined : storage.flush()),
    storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)),
  });
  const committed = (): Promise<void> =>
    storage.committed().catch((thrown: unknown) => {
      throw storageFailure(thrown);
    });
  const database = storage.role === 'reader' ? withReadAgain(opened) : opened;
  return {
    database,
    ...(isStoredBehind ? { reads: localReads(database, committed), committed } : { reads: localReads(database) }),
    close: async ({ handsOver }) => {
      opened.close();
      await storage.close({ leavesLog: handsOver });
    },
  };
}
