import { cellValuesEqual, encodeOrigin, RockpoolError, type Schema } from '@rockpool/shared';
import {
  openStorage,
  quarantineStorage,
  type Medium,
  type SqliteModule as StorageModule,
  type Storage,
  type Tuning,
} from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import { loadPart } from '../../load-part.ts';
import type { OpenedDatabase } from '../leader/opened-database.ts';
import type { Migration } from '../../rpc/migration.ts';
import type { Durability } from '../../rpc/worker-api.ts';
import { loadChangelogCode } from '../changelog/load-changelog-code.ts';
import { lowestSequence } from '../changelog/lowest-sequence.ts';
import { loadDocumentSupport } from '../documents/load-document-support.ts';
import { documentTables } from '../documents/document-columns.ts';
import { loadMigrationCode } from '../database/load-migration-code.ts';
import { localReads, type LocalReadsOptions } from '../database/local-reads.ts';
import { openDatabase, type OpenDatabase } from '../database/open-database.ts';
import { Meta } from '../file/meta.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { Backups } from './backups.ts';
import type { KeepUnsentCode } from './keep-unsent.ts';
import type { QuarantineCode } from './quarantine.ts';
import { flushNow, SharedFlush } from './shared-flush.ts';
import { SLICE_MS, SlowReads } from './slow-reads.ts';
import { failureBehind, storageFailure, type LostCode } from './storage-failure.ts';

export interface LocalOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly migrations: readonly Migration[] | null;
  /** The server database that the file is opened for, or null; see require-database.ts. */
  readonly databaseId: string | null;
  /** See require-principal.ts. */
  readonly principal: string | null;
  readonly durability: Durability;
  readonly medium: Medium;
  /** Default: the storage's own. */
  readonly tuning?: Partial<Tuning>;
  /** The result of `loadCode`. */
  readonly runtime: Promise<SqliteRuntime>;
  /** Called before a writer opens, to fill a database that does not exist yet. */
  readonly beforeWriter?: () => Promise<unknown>;
  /** Called when the opening of a writer, which may take long, has made progress. */
  readonly onStep?: () => void;
  /**
   * Present if a server has the rows of a damaged database, which is then quarantined and replaced by a new one. Called
   * with `storage-corrupt` when that is done or has failed: `keptAs` is the new name of the damaged database,
   * `rejected` the number of its unsent changesets that now wait for the user's decision, and `isComplete` whether
   * these are all. Without this callback opening fails and changes nothing.
   */
  readonly onQuarantined?: (error: RockpoolError) => void;
  /**
   * Called after each statement that fails because the browser has taken the files away (`storage-lost`), so that
   * nothing works until another worker opens them, or because a read fails for an unknown reason (`storage-failed`).
   */
  readonly onLost?: (code: LostCode) => void;
}

type AppOptions = Pick<LocalOptions, 'schema' | 'migrations' | 'databaseId' | 'principal' | 'onLost' | 'onStep'>;

const CODE_FOR_QUARANTINE: QuarantineCode & KeepUnsentCode = {
  cellValuesEqual,
  Connection,
  encodeOrigin,
  lowestSequence,
  Meta,
  openStorage,
  quarantineStorage,
  storageFailure,
};

/** Opens this worker's database, and opens it again after each change of its role. */
export type OpenLocal = (role: 'writer' | 'reader', onUndone: () => void) => Promise<OpenedDatabase<OpenDatabase>>;

/**
 * Combines storage, SQLite and Rockpool's tables. SQLite is loaded once, and a medium in memory keeps its content
 * across closing and reopening.
 */
export function createLocalOpener(options: LocalOptions): OpenLocal {
  const { name, durability, medium, tuning = {}, runtime: whenLoaded, beforeWriter, onQuarantined } = options;

  const open: OpenLocal = async (role, onUndone) => {
    let timesUndone = 0;
    let opened: OpenedDatabase<OpenDatabase> | null = null;
    const countUndone = (): void => {
      timesUndone++;
      opened?.database.connection.forgetKnownValues();
      onUndone();
    };
    if (role === 'writer') await beforeWriter?.();
    const sharesFlush = role === 'writer' && durability === 'strict' && medium.persistence !== 'indexeddb';
    // Opens the storage while SQLite is still loading.
    const opening = openStorage({
      name,
      medium,
      role,
      durability: sharesFlush ? 'relaxed' : durability,
      onUndone: countUndone,
      tuning,
    });
    const [storage, runtime] = await Promise.all([opening, whenLoaded]).catch(async (thrown: unknown) => {
      await opening.then(
        (waiting) => waiting.close(),
        () => undefined,
      );
      throw storageFailure(thrown);
    });
    if (role === 'writer') options.onStep?.();
    opened = await openOn(storage, runtime, options, { timesUndone: () => timesUndone, sharesFlush });
    return opened;
  };

  return async (role, onUndone) => {
    try {
      return await open(role, onUndone);
    } catch (thrown) {
      const isCorrupt = thrown instanceof RockpoolError && thrown.code === 'storage-corrupt';
      if (role === 'reader' || onQuarantined === undefined || !isCorrupt) throw thrown;
    }
    const part = await loadPart('quarantine', () => import('./quarantine-code.ts'));
    const { keepUnsentAsRejected, quarantine, quarantineNotice } = part;
    const quarantined = await quarantine(name, medium, await whenLoaded, options, CODE_FOR_QUARANTINE);
    let rejected = 0;
    try {
      const opened = await open(role, onUndone);
      rejected = await keepUnsentAsRejected(opened, quarantined, CODE_FOR_QUARANTINE);
      return opened;
    } finally {
      // Reported even if reopening failed, because the next opening will find no damage and report nothing.
      onQuarantined(quarantineNotice(quarantined, rejected));
    }
  };
}

/** Loads SQLite and the other code that the schema and the migrations need. The caller of `open` receives a failure. */
export function loadCode(
  { schema, hasMigrations }: { readonly schema: Schema; readonly hasMigrations: boolean },
  loadSqlite: () => Promise<SqliteRuntime>,
): Promise<SqliteRuntime> {
  const loading = Promise.all([
    loadSqlite(),
    documentTables(schema.tables).size > 0 ? loadDocumentSupport() : undefined,
    hasMigrations ? loadMigrationCode() : undefined,
  ]).then(([runtime]) => runtime);
  loading.catch(() => undefined);
  return loading;
}

interface StorageBehaviour {
  /** How many times commits of this storage have been undone. */
  readonly timesUndone: () => number;
  /** Commits share a flush, and are reported after it. */
  readonly sharesFlush: boolean;
}

/** Opens the database of a storage, with additional connections for reading that open on first use. */
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
      // Callers that wait for a flush receive its result before the storage is closed.
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
  { schema, migrations, databaseId, principal, onLost, onStep }: AppOptions,
): Promise<Connected> {
  let opened: OpenDatabase | undefined;
  try {
    // One Emscripten module; each package declares the part that it uses.
    storage.register(runtime.module as unknown as StorageModule);
    const database = openDatabase({
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
      // IndexedDB has no flush; its own durability applies to every commit.
      flush: () => (storage.persistence === 'indexeddb' ? undefined : flushNow(storage)),
      storageError: failureBehind(storage, onLost),
      ...(onStep !== undefined && { onStep }),
    });
    opened = database;
    // The installed schema is valid only once it is stored.
    await storage.committed();
    // Another bundle may have added the first document; `loadCode` knows only this bundle's schema.
    if (documentTables(database.schema.tables).size > 0) await loadDocumentSupport();
    // Without packs, nothing waits for this code. A leader that fails to load it does not pack.
    const changelogCode = loadChangelogCode();
    if (database.changelog.packs.isEmpty) changelogCode.catch(() => undefined);
    else await changelogCode;
    return {
      database,
      close: async (leavesLog = false) => {
        database.close();
        await storage.close({ leavesLog }).catch(rethrowFailure);
      },
    };
  } catch (thrown) {
    // A storage with an open connection cannot be closed.
    opened?.close();
    await storage.close().catch(() => undefined);
    return rethrowFailure(thrown);
  }
}

function rethrowFailure(thrown: unknown): never {
  throw storageFailure(thrown);
}

/** Opens on first use, and again after a failure. */
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
