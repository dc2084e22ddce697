// @journeyapps/wa-sqlite, the maintained fork of wa-sqlite, with one of its VFSs.
import * as SQLite from '@journeyapps/wa-sqlite';
import createAsyncModule from '@journeyapps/wa-sqlite/dist/wa-sqlite-async.mjs';
import asyncWasm from '@journeyapps/wa-sqlite/dist/wa-sqlite-async.wasm?url';
import createModule from '@journeyapps/wa-sqlite/dist/wa-sqlite.mjs';
import wasm from '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm?url';
import { AccessHandlePoolVFS } from '@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js';
import { IDBBatchAtomicVFS } from '@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js';
import { IDBMirrorVFS } from '@journeyapps/wa-sqlite/src/examples/IDBMirrorVFS.js';
import { OPFSWriteAheadVFS } from '@journeyapps/wa-sqlite/src/examples/OPFSWriteAheadVFS.js';
import { sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

const VFSS: Readonly<Record<string, { readonly class: unknown; readonly isAsync: boolean }>> = {
  AccessHandlePoolVFS: { class: AccessHandlePoolVFS, isAsync: false },
  IDBBatchAtomicVFS: { class: IDBBatchAtomicVFS, isAsync: true },
  IDBMirrorVFS: { class: IDBMirrorVFS, isAsync: true },
  OPFSWriteAheadVFS: { class: OPFSWriteAheadVFS, isAsync: false },
};

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const name = String(settings['vfs']);
  const vfs = VFSS[name];
  if (vfs === undefined) throw new Error(`unknown VFS "${name}"`);
  const module = vfs.isAsync
    ? await createAsyncModule({ locateFile: () => asyncWasm })
    : await createModule({ locateFile: () => wasm });
  const sqlite = SQLite.Factory(module);
  // The pool takes the name of its folder here. The other VFSs accept any name.
  sqlite.vfs_register(await (vfs.class as SQLite.VfsFactory).create(`/wa-sqlite-${database}`, module), true);
  const handle = await sqlite.open_v2(`/${database}.db`);
  // Only this VFS waits for another tab through SQLite's busy handler.
  if (name === 'OPFSWriteAheadVFS') await sqlite.exec(handle, 'PRAGMA busy_timeout = 5000');
  if (typeof settings['pragmas'] === 'string') await sqlite.exec(handle, settings['pragmas']);
  return { operations: sqlOperations(new WaSqliteDatabase(sqlite, handle)) };
}

class WaSqliteDatabase implements SqlDatabase {
  readonly #sqlite: SQLite.SQLiteAPI;
  readonly #handle: number;
  readonly #statements = new Map<string, number>();

  constructor(sqlite: SQLite.SQLiteAPI, handle: number) {
    this.#sqlite = sqlite;
    this.#handle = handle;
  }

  async exec(sql: string): Promise<void> {
    await this.#sqlite.exec(this.#handle, sql);
  }

  async run(sql: string, parameters: readonly SqlParameter[]): Promise<void> {
    await this.#step(await this.#prepare(sql), parameters);
  }

  async runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): Promise<void> {
    await this.exec('BEGIN');
    const statement = await this.#prepare(sql);
    for (const parameters of parameterLists) await this.#step(statement, parameters);
    await this.exec('COMMIT');
  }

  async rows(sql: string, parameters: readonly SqlParameter[] = []): Promise<SqlRow[]> {
    const sqlite = this.#sqlite;
    const statement = await this.#prepare(sql);
    if (parameters.length > 0) sqlite.bind_collection(statement, parameters);
    const rows: SqlRow[] = [];
    const names = sqlite.column_names(statement);
    try {
      while ((await sqlite.step(statement)) === SQLite.SQLITE_ROW) {
        const values = sqlite.row(statement);
        const row: SqlRow = {};
        for (let column = 0; column < names.length; column++) row[names[column] as string] = values[column];
        rows.push(row);
      }
    } finally {
      await sqlite.reset(statement);
    }
    return rows;
  }

  async close(): Promise<void> {
    for (const statement of this.#statements.values()) await this.#sqlite.finalize(statement);
    await this.#sqlite.close(this.#handle);
  }

  async #step(statement: number, parameters: readonly SqlParameter[]): Promise<void> {
    this.#sqlite.bind_collection(statement, parameters);
    try {
      await this.#sqlite.step(statement);
    } finally {
      await this.#sqlite.reset(statement);
    }
  }

  async #prepare(sql: string): Promise<number> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    for await (const statement of this.#sqlite.statements(this.#handle, sql, { unscoped: true })) {
      this.#statements.set(sql, statement);
      return statement;
    }
    throw new Error(`the SQL has no statement: ${sql}`);
  }
}
