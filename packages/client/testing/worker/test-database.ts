import { buildSchema, DEFAULT_TOKENIZE, type Schema, type TableSchema } from '@rockpool/shared';
import { memoryMedium, openStorage, type Medium, type Storage } from '@rockpool/vfs-opfs';
import { openDatabase, type OpenDatabase, type OpenDatabaseOptions } from '../../src/worker/database/open-database.ts';
import { loadChangelogCode } from '../../src/worker/changelog/load-changelog-code.ts';
import { loadMigrationCode } from '../../src/worker/database/load-migration-code.ts';
import { loadDocumentSupport } from '../../src/worker/documents/load-document-support.ts';
import { loadSqlite } from '../../src/worker/sqlite/load-sqlite.node.ts';
import type { SqliteRuntime } from '../../src/worker/sqlite/sqlite-runtime.ts';
import { failureBehind } from '../../src/worker/storage/storage-failure.ts';
import { testTable } from './table-schema.ts';

export const testRuntime: SqliteRuntime = await loadSqlite();
await loadDocumentSupport();
await loadMigrationCode();
await loadChangelogCode();

export const account: TableSchema = testTable(
  'account',
  { id: 'text not null', name: 'text', amount: 'integer', rate: 'real', extra: 'blob' },
  {
    uniques: [['name']],
    indexes: [{ name: 'account_rate', unique: false, expressions: ['"rate"'], whereSql: null }],
  },
);
export const entry: TableSchema = testTable(
  'entry',
  { id: 'text not null', account_id: 'text', note: 'text' },
  {
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'account',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'cascade',
      },
    ],
    indexes: [{ name: 'entry_account', unique: false, expressions: ['"account_id"'], whereSql: null }],
    searchIndexes: [{ name: 'entry_search', columns: ['note'], tokenize: DEFAULT_TOKENIZE }],
  },
);
export const priced: TableSchema = testTable(
  'priced',
  { id: 'text not null', net: 'integer', gross: 'integer as net*2 stored' },
  {
    indexes: [{ name: 'priced_gross', unique: false, expressions: ['"gross"'], whereSql: null }],
  },
);
export const draft: TableSchema = testTable('draft', { id: 'integer', text: 'text' }, { synced: false });

export const testSchema: Schema = buildSchema([account, entry, priced, draft]);

/** A clock that tests set. */
export class TestClock {
  ms = 1_700_000_000_000;
  readonly now = (): number => this.ms;
}

let seed = 0;

/** Returns different bytes on each call, and the same sequence in each run. */
export function testRandomBytes(count: number): Uint8Array {
  seed++;
  return new Uint8Array(count).map((_, i) => (seed * 31 + i * 7) & 0xff);
}

/** Opens a database in memory. Its data is lost when it is closed. */
export function openInMemory(options: Partial<OpenDatabaseOptions> = {}): OpenDatabase {
  return openDatabase({
    runtime: testRuntime,
    path: ':memory:',
    role: 'writer',
    schema: testSchema,
    randomBytes: testRandomBytes,
    nowMs: () => 1_700_000_000_000,
    elapsedMs: () => 0,
    ...options,
  });
}

/** The name of the databases that `openStored` opens. */
export const STORED_NAME = 'test';

export interface StoredDatabase {
  readonly database: OpenDatabase;
  readonly storage: Storage;
  close(): Promise<void>;
}

/** Opens a database on a medium; opening the same medium again finds it. */
export async function openStored(
  medium: Medium = memoryMedium(),
  options: Partial<OpenDatabaseOptions> = {},
): Promise<StoredDatabase> {
  const role = options.role ?? 'writer';
  const storage = await openStorage({ name: STORED_NAME, medium, role });
  try {
    storage.register(testRuntime.module);
    const database = openInMemory({
      path: storage.path,
      vfsName: storage.vfsName,
      role,
      storageError: failureBehind(storage),
      flush: () => storage.flush(),
      ...options,
    });
    return {
      database,
      storage,
      async close() {
        database.close();
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}
