import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  type DocumentStorage,
} from '../../packages/shared/src/index.ts';
import { sampleColumn, sampleTable } from '../../packages/shared/testing/sample-schema.ts';
import { openStorage, opfsSharedMedium, type SqliteModule, type Storage } from '../../packages/vfs-opfs/src/index.ts';
import type { SqlParam } from '../../packages/client/src/rpc/sql-value.ts';
import { openDatabase } from '../../packages/client/src/worker/database/open-database.ts';
import { loadDocumentSupport } from '../../packages/client/src/worker/documents/load-document-support.ts';
import { Connection } from '../../packages/client/src/worker/sqlite/connection.ts';
import { loadSqlite } from '../../packages/client/src/worker/sqlite/load-sqlite.ts';
import type { StoreName } from './store-name.ts';

export interface Store {
  /** The SQL expression that stores a document, and the one that reads it whole. */
  readonly write: (expression: string) => string;
  readonly read: string;
  /** Name of the function that sets a value at a path. */
  readonly set: string;
  /** Runs the statements in one transaction. */
  run(statements: readonly (readonly [sql: string, ...params: SqlParam[]])[]): void;
  readonly connection: Connection;
  close(): Promise<void>;
}

export async function openStore(name: StoreName, file: string): Promise<Store> {
  const [storage, runtime] = await Promise.all([
    openStorage({ name: file, medium: opfsSharedMedium(), role: 'writer' }),
    loadSqlite(),
    loadDocumentSupport(),
  ]);
  storage.register(runtime.module as unknown as SqliteModule);
  return name === 'rockpool' || name === 'rockpool (binary)'
    ? documentStore(storage, runtime, name === 'rockpool' ? 'text' : 'binary')
    : plainStore(
        name,
        new Connection(runtime, { path: storage.path, vfsName: storage.vfsName, readOnly: false }),
        storage,
      );
}

type Runtime = Awaited<ReturnType<typeof loadSqlite>>;

/** A synced table with a document column: capture, changelog and merging included. */
function documentStore(storage: Storage, runtime: Runtime, documents: DocumentStorage): Store {
  const schema = buildSchema([
    sampleTable('page', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('content', 'text')], {
      merge: {
        ...DEFAULT_MERGE_RULES,
        documents: [
          {
            ...DEFAULT_DOCUMENT_RULE,
            column: 'content',
            text: ['body'],
            maxLength: 2 * 1024 * 1024,
            storage: documents,
          },
        ],
      },
    }),
  ]);
  const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
  const database = openDatabase({
    runtime,
    path: storage.path,
    vfsName: storage.vfsName,
    role: 'writer',
    schema,
    randomBytes,
    nowMs: () => Date.now(),
    flush: () => storage.flush(),
  });
  let requests = 0;
  return {
    write: (expression) => expression,
    read: 'content',
    // A binary column takes JSONB as it is; text would be converted.
    set: documents === 'text' ? 'json_set' : 'jsonb_set',
    run: (statements) =>
      void database.write({
        id: String(++requests),
        statements: statements.map(([sql, ...params]) => ({ sql, params })),
      }),
    connection: database.connection,
    close() {
      database.close();
      return storage.close();
    },
  };
}

function plainStore(name: 'json' | 'jsonb', connection: Connection, storage: Storage): Store {
  connection.exec(
    'PRAGMA page_size = 8192; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; CREATE TABLE page (id TEXT PRIMARY KEY, content) WITHOUT ROWID',
  );
  return {
    write: (expression) => (name === 'json' ? expression : `jsonb(${expression})`),
    read: name === 'json' ? 'content' : 'json(content)',
    set: name === 'json' ? 'json_set' : 'jsonb_set',
    run(statements) {
      connection.exec('BEGIN IMMEDIATE');
      for (const [sql, ...params] of statements) connection.run(sql, ...params);
      connection.exec('COMMIT');
    },
    connection,
    close() {
      connection.close();
      return storage.close();
    },
  };
}
