import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Connection } from '../../packages/client/src/worker/sqlite/connection.ts';
import { encodeRows } from '../../packages/client/src/worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import type { Dialect } from './workloads.ts';

/** A database in memory, in this thread. */
export interface Subject {
  readonly subject: string;
  readonly variant: string;
  readonly dialect: Dialect;
  /** Runs statements without a result. */
  setup(sql: string): void;
  /** Runs a query to the end with all its values in JavaScript. */
  run(sql: string): void;
  close(): void;
}

const NEVER = 0;
const AS_IT_PAYS = 1;

/** Our build with and without scans, on one database. */
export async function openRockpool(): Promise<readonly [Subject, Subject]> {
  const runtime = await loadSqlite();
  const connection = new Connection(runtime, { path: ':memory:' });
  const open = (subject: string, mode: typeof NEVER | typeof AS_IT_PAYS): Subject => ({
    subject,
    variant: '',
    dialect: 'sqlite',
    setup: (sql) => {
      if (mode === AS_IT_PAYS) connection.exec(sql);
    },
    run: (sql) => {
      runtime.module._rockpool_scan_mode(mode, 0);
      // Each mode has its own statement text, because a prepared statement keeps its translation.
      const statement = connection.prepare(mode === NEVER ? sql : `${sql} `);
      encodeRows(statement);
      statement.release();
    },
    close: () => {
      if (mode === AS_IT_PAYS) connection.close();
    },
  });
  return [open('rockpool', AS_IT_PAYS), open('without scans', NEVER)];
}

export function openNative(): Subject {
  const database = new DatabaseSync(':memory:');
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return {
    subject: 'native',
    variant: '',
    dialect: 'sqlite',
    setup: (sql) => database.exec(sql),
    run: (sql) => {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      statement.all();
    },
    close: () => database.close(),
  };
}

export async function openSqliteOrg(): Promise<Subject> {
  const { default: initialise } = (await import('@sqlite.org/sqlite-wasm')) as unknown as {
    default: () => Promise<{ oo1: { DB: new (path: string) => SqliteOrgDatabase } }>;
  };
  const { oo1 } = await initialise();
  const database = new oo1.DB(':memory:');
  return {
    subject: 'sqlite.org',
    variant: '',
    dialect: 'sqlite',
    setup: (sql) => database.exec(sql),
    run: (sql) => {
      database.selectArrays(sql);
    },
    close: () => database.close(),
  };
}

interface SqliteOrgDatabase {
  exec(sql: string): void;
  selectArrays(sql: string): unknown[][];
  close(): void;
}

export async function openDuckdb(): Promise<Subject> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs');
  const duckdb = require(path) as Duckdb;
  const bundle = (kind: string) => ({ mainModule: `${dirname(path)}/duckdb-${kind}.wasm`, mainWorker: '' });
  const bindings = await duckdb.createDuckDB(
    { mvp: bundle('mvp'), eh: bundle('eh') },
    new duckdb.VoidLogger(),
    duckdb.NODE_RUNTIME,
  );
  await bindings.instantiate(() => {});
  const connection = bindings.connect();
  return {
    subject: 'duckdb',
    variant: '',
    dialect: 'duckdb',
    setup: (sql) => {
      for (const statement of sql.split(';')) if (statement.trim() !== '') connection.query(statement);
    },
    run: (sql) => {
      connection.query(sql);
    },
    close: () => connection.close(),
  };
}

interface Duckdb {
  readonly VoidLogger: new () => unknown;
  readonly NODE_RUNTIME: unknown;
  createDuckDB(
    bundles: unknown,
    logger: unknown,
    runtime: unknown,
  ): Promise<{
    instantiate(onProgress: () => void): Promise<unknown>;
    connect(): { query(sql: string): unknown; close(): void };
  }>;
}
