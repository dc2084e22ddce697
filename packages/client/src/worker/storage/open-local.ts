import { cellValuesEqual, RockpoolError, type Schema } from '@rockpool/shared';
import { openStorage, type Medium, type SqliteModule as StorageModule, type Storage } from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import type { OpenedDatabase } from '../leader/opened-database.ts';
import type { Migration } from '../../rpc/migration.ts';
import type { Durability } from '../../rpc/worker-api.ts';
import { loadDocumentSupport } from '../documents/load-document-support.ts';
import { documentTables } from '../documents/document-columns.ts';
import { localReads, type LocalReadsOptions } from '../database/local-reads.ts';
import { openDatabase, type OpenDatabase } from '../database/open-database.ts';
import { importUnsent } from '../changelog/unsent.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { Backups } from './backups.ts';
import { isCorrupt, quarantine, type QuarantinedDatabase } from './quarantine.ts';
import { flushNow, SharedFlush } from './shared-flush.ts';
import { SLICE_MS, SlowReads } from './slow-reads.ts';
import { storageFailure } from './storage-failure.ts';

export interface LocalOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly migrations: readonly Migration[] | null;
  /** The server database that it is opened for; null: none. See require-database.ts. */
  readonly databaseId: string | null;
  /** See require-principal.ts. */
  readonly principal: string | null;
  readonly durability: Durability;
  readonly medium: Medium;
  /** As `loadCode` gives it. */
  readonly runtime: Promise<SqliteRuntime>;
  /** Called before a writer opens: fills a database that is not there yet. */
  readonly beforeWriter?: () => Promise<unknown>;
  /**
   * Given where a server has what a damaged database had: that one is then set aside, and a new one takes its place.
   * Called when that is done or has failed, with `storage-corrupt`: `keptAs` is the name that the damaged one is kept
   * under, `rejected` how many unsent changesets of it wait for a decision now, `isComplete` whether these are all.
   * Without it opening fails, and everything stays as it is.
   */
  readonly onQuarantined?: (error: RockpoolError) => void;
}

type AppOptions = Pick<LocalOptions, 'schema' | 'migrations' | 'databaseId' | 'principal'>;

/** Opens the database of this worker, as often as its role changes. */
export type OpenLocal = (role: 'writer' | 'reader', onUndone: () => void) => Promise<OpenedDatabase<OpenDatabase>>;

/**
 * Storage, SQLite and our tables, put together. SQLite is loaded once; what lies in memory outlives a closing and
 * reopening.
 */
export function createLocalOpener(options: LocalOptions): OpenLocal {
  const { name, durability, medium, runtime: whenLoaded, beforeWriter, onQuarantined } = options;

  const open: OpenLocal = async (role, onUndone) => {
    let timesUndone = 0;
    const countUndone = (): void => {
      timesUndone++;
      onUndone();
    };
    if (role === 'writer') await beforeWriter?.();
    // Both at once: neither needs the other.
    const sharesFlush = role === 'writer' && durability === 'strict' && medium.persistence !== 'indexeddb';
    const opening = openStorage({
      name,
      medium,
      role,
      durability: sharesFlush ? 'relaxed' : durability,
      onUndone: countUndone,
    });
    const [storage, runtime] = await Promise.all([opening, whenLoaded]).catch(async (thrown: unknown) => {
      await opening.then(
        (opened) => opened.close(),
        () => undefined,
      );
      throw storageFailure(thrown);
    });
    return openOn(storage, runtime, options, { timesUndone: () => timesUndone, sharesFlush });
  };

  return async (role, onUndone) => {
    try {
      return await open(role, onUndone);
    } catch (thrown) {
      if (role === 'reader' || onQuarantined === undefined || !isCorrupt(thrown)) throw thrown;
    }
    const quarantined = await quarantine(name, medium, await whenLoaded, options);
    let rejected = 0;
    try {
      const opened = await open(role, onUndone);
      rejected = await keepUnsentAsRejected(opened, quarantined);
      return opened;
    } finally {
      // Also where nothing more succeeded: the next opening finds no damage, and says nothing.
      onQuarantined(quarantineNotice(quarantined, rejected));
    }
  };
}

function quarantineNotice({ keptAs, unsent }: QuarantinedDatabase, rejected: number): RockpoolError {
  return new RockpoolError('storage-corrupt', {
    keptAs,
    rejected,
    isComplete: unsent.isComplete && rejected === unsent.changesets.length,
  });
}

/** Returns how many: all, or none where there is no room for them. They are in the file that is kept, too. */
async function keepUnsentAsRejected(
  { database, committed, flushed }: OpenedDatabase<OpenDatabase>,
  quarantined: QuarantinedDatabase,
): Promise<number> {
  const { unsent, databaseIdentity } = quarantined;
  const { meta } = database;
  // What was filled from a server just now may be another database of the same name: what was meant for the old one
  // stays in its file.
  if (
    databaseIdentity !== null &&
    meta.databaseIdentity !== null &&
    !cellValuesEqual(databaseIdentity, meta.databaseIdentity)
  )
    return 0;
  try {
    if (databaseIdentity !== null) meta.set('database_identity', databaseIdentity);
    importUnsent(
      database.connection,
      database.rejected,
      unsent,
      quarantineNotice(quarantined, unsent.changesets.length).toData(),
      Date.now(),
    );
    await committed?.();
  } catch {
    return 0;
  }
  await flushed?.().catch(() => undefined); // They are rejected all the same, and flushed as soon as that can be.
  return unsent.changesets.length;
}

/** SQLite, and with it what the schema needs beside it. Whoever opens hears of a failure. */
export function loadCode(schema: Schema, loadSqlite: () => Promise<SqliteRuntime>): Promise<SqliteRuntime> {
  const loading = Promise.all([
    loadSqlite(),
    documentTables(schema.tables).size > 0 ? loadDocumentSupport() : undefined,
  ]).then(([runtime]) => runtime);
  loading.catch(() => undefined);
  return loading;
}

interface StorageBehaviour {
  /** How often commits of this storage were undone. */
  readonly timesUndone: () => number;
  /** Commits are flushed together, and told then. */
  readonly sharesFlush: boolean;
}

/** The database of a storage, and beside it connections that read, opened when they are first needed. */
async function openOn(
  storage: Storage,
  runtime: SqliteRuntime,
  app: AppOptions,
  { timesUndone, sharesFlush }: StorageBehaviour,
): Promise<OpenedDatabase<OpenDatabase>> {
  const { database, close } = await connect(storage, runtime, app);
  const openReader = async (): Promise<Connected> =>
    connect(await storage.openReader().catch(rethrowFailure), runtime, app);
  const slowReads = new SlowReads(openReader);
  const readerBeside = onFirstUse(openReader);

  const isStoredBehind = storage.persistence === 'indexeddb';
  const committed = (): Promise<void> => storage.committed().catch(rethrowFailure);
  const flush = sharesFlush ? new SharedFlush(storage) : null;
  const backups = new Backups(storage);
  const options: LocalReadsOptions = {
    backup: () => backups.make(),
    slow: { query: (statement) => slowReads.query(statement), firstSliceMs: SLICE_MS },
    ...(isStoredBehind ? { storedBehind: { committed, timesUndone } } : {}),
  };
  return {
    database,
    reads: localReads(database, options),
    readsBeside: async () => localReads((await readerBeside.get()).database, options),
    ...(isStoredBehind ? { committed } : {}),
    ...(flush === null ? {} : { flushed: () => flush.flushed() }),
    close: async ({ handsOver }) => {
      backups.close();
      await slowReads.close();
      await readerBeside.close();
      // Who waits for a flush hears of it before the storage is gone.
      await flush?.flushed().catch(() => undefined);
      await close(handsOver);
    },
  };
}

interface Connected {
  readonly database: OpenDatabase;
  close(leavesLog?: boolean): Promise<void>;
}

async function connect(
  storage: Storage,
  runtime: SqliteRuntime,
  { schema, migrations, databaseId, principal }: AppOptions,
): Promise<Connected> {
  try {
    // One Emscripten module; each package declares the part of it that it uses.
    storage.register(runtime.module as unknown as StorageModule);
    const opened = openDatabase({
      runtime,
      path: storage.path,
      vfsName: storage.vfsName,
      role: storage.role,
      schema,
      migrations,
      databaseId,
      principal,
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      nowMs: () => Date.now(),
      // IndexedDB has no such call: what it means by `durability` holds for every commit.
      flush: () => (storage.persistence === 'indexeddb' ? undefined : flushNow(storage)),
      storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)),
    });
    // Another bundle may have added the first document; `loadCode` knows this bundle's schema.
    if (documentTables(opened.schema.tables).size > 0) await loadDocumentSupport();
    // What was installed is not there before it is stored.
    await storage.committed().catch((thrown: unknown) => {
      opened.close();
      throw thrown;
    });
    return {
      database: opened,
      close: async (leavesLog = false) => {
        opened.close();
        await storage.close({ leavesLog });
      },
    };
  } catch (thrown) {
    await storage.close().catch(() => undefined);
    throw thrown instanceof RockpoolError ? thrown : storageFailure(thrown);
  }
}

function rethrowFailure(thrown: unknown): never {
  throw storageFailure(thrown);
}

/** Opens once, when it is first asked for, and after a failure again. */
function onFirstUse(open: () => Promise<Connected>): { get(): Promise<Connected>; close(): Promise<void> } {
  let opening: Promise<Connected> | null = null;
  return {
    get: () => {
      opening ??= open().catch((thrown: unknown) => {
        opening = null;
        throw thrown;
      });
      return opening;
    },
    close: async () => void (await (await opening?.catch(() => undefined))?.close()),
  };
}
