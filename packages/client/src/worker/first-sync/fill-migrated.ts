import type { Schema } from '@rockpool/shared';
import type { Medium, openStorage, SqliteModule as StorageModule, stageFile, Storage } from '@rockpool/vfs-opfs';
import type { Migration } from '../../rpc/migration.ts';
import type { applyDeliveries } from '../apply/apply-delivery.ts';
import type { PendingIndex } from '../apply/pending-index.ts';
import type { openDatabase, OpenDatabase } from '../database/open-database.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import type { syncProgress } from '../sync/sync-progress.ts';
import { readSnapshotFacts, type SnapshotFacts } from './snapshot-facts.ts';
import type { SnapshotContent } from './snapshot-source.ts';

/** Parts of the worker; see FirstSyncTools. */
export interface FillTools {
  readonly applyDeliveries: typeof applyDeliveries;
  readonly Connection: typeof Connection;
  readonly openDatabase: typeof openDatabase;
  readonly openStorage: typeof openStorage;
  readonly PendingIndex: typeof PendingIndex;
  readonly stageFile: typeof stageFile;
  readonly syncProgress: typeof syncProgress;
}

interface FillOptions {
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  readonly migrations: readonly Migration[];
  readonly runtime: SqliteRuntime;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Creates the database by the app's migrations, and copies the snapshot's rows into it like those of a full resync. So
 * it has everything that the migrations create, such as triggers, views and rows of local tables, and exactly the
 * tables that the next migrations expect.
 *
 * A worker that dies in between leaves no database, at most empty files, and the next opening repeats the first sync.
 * Or it leaves a database without rows, which fills as it syncs.
 */
export async function fillMigrated(
  options: FillOptions,
  content: SnapshotContent,
  onStored: () => void,
  tools: FillTools,
): Promise<void> {
  const { name, medium, schema, runtime } = options;
  const staged = await tools.stageFile({ name, medium, ...content });
  try {
    const facts = readFacts(staged.storage, schema, runtime, tools);
    const storage = await tools.openStorage({ name, medium, role: 'writer', durability: 'strict' });
    try {
      storage.register(runtime.module as unknown as StorageModule);
      const database = createDatabase(storage, options, tools);
      try {
        onStored();
        fill(database, staged.storage.path, facts, tools);
        await storage.committed();
      } finally {
        database.close();
      }
    } finally {
      await storage.close();
    }
  } finally {
    // A file that cannot be removed now does no harm: the leader removes it.
    await staged.remove().catch(() => undefined);
  }
}

function readFacts(storage: Storage, schema: Schema, runtime: SqliteRuntime, { Connection }: FillTools): SnapshotFacts {
  storage.register(runtime.module as unknown as StorageModule);
  const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName });
  try {
    return readSnapshotFacts(connection, schema);
  } finally {
    connection.close();
  }
}

/** Throws `migration-failed` if the migrations do not run on an empty database. Stores nothing. */
export function tryMigrations(options: FillOptions, tools: FillTools): void {
  createDatabase({ path: ':memory:' }, options, tools).close();
}

function createDatabase(
  { path, vfsName }: { readonly path: string; readonly vfsName?: string },
  { schema, migrations, runtime, randomBytes }: FillOptions,
  { openDatabase }: FillTools,
): OpenDatabase {
  return openDatabase({
    runtime,
    path,
    ...(vfsName !== undefined && { vfsName }),
    role: 'writer',
    schema,
    migrations,
    randomBytes,
    nowMs: () => Date.now(),
  });
}

function fill(
  database: OpenDatabase,
  path: string,
  { databaseIdentity, logEpoch, watermark, logHash }: SnapshotFacts,
  { applyDeliveries, PendingIndex, syncProgress }: FillTools,
): void {
  // Bound before the rows are written, so that they are never in a database that could still be bound to a different
  // one.
  database.meta.set('database_identity', databaseIdentity);
  const { connection, searchIndexes, tablesById } = database;
  applyDeliveries({
    connection,
    searchIndexes,
    tablesById,
    lookups: new Map(),
    pending: new PendingIndex(),
    progress: syncProgress(database, () => Date.now()),
    logEpoch,
    snapshot: { path, position: { logEpoch, watermark, logHash } },
    deliveries: [
      {
        type: 'delivery',
        whole: true,
        from: watermark,
        to: watermark,
        logHash,
        lastAckedSequence: 0,
        outcomes: [],
        groups: [],
      },
    ],
  });
}
