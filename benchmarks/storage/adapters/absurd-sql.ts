// absurd-sql on its fork of sql.js, set up as its README says: journal in memory, 8 KB pages. The page must have called
// `initBackend` for this worker.
import initSqlJs, { type SqlJsDatabase, type SqlJsStatement } from '@jlongster/sql.js';
import wasm from '@jlongster/sql.js/dist/sql-wasm.wasm?url';
import { SQLiteFS } from 'absurd-sql';
import IndexedDBBackend from 'absurd-sql/dist/indexeddb-backend';
import { sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const sql = await initSqlJs({ locateFile: () => wasm });
  const files = new SQLiteFS(
    sql.FS,
    new IndexedDBBackend(() => {
      throw new Error('the write lock was lost');
    }),
  );
  sql.register_for_idb(files);
  sql.FS.mkdir('/sql');
  sql.FS.mount(files, {}, '/sql');
  const opened = new sql.Database(`/sql/${database}.sqlite`, { filename: true });
  opened.exec(`PRAGMA page_size = ${settings['pageSizeBytes']}; PRAGMA journal_mode = MEMORY;`);
  return { operations: sqlOperations(new AbsurdDatabase(opened)) };
}

class AbsurdDatabase implements SqlDatabase {
  readonly #database: SqlJsDatabase;
  readonly #statements = new Map<string, SqlJsStatement>();

  constructor(database: SqlJsDatabase) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, parameters: readonly SqlParameter[]): void {
    this.#prepare(sql).run(parameters);
  }

  runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): void {
    this.exec('BEGIN');
    const statement = this.#prepare(sql);
    for (const parameters of parameterLists) statement.run(parameters);
    this.exec('COMMIT');
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): SqlRow[] {
    const statement = this.#prepare(sql);
    statement.bind(parameters);
    const rows: SqlRow[] = [];
    while (statement.step()) rows.push(statement.getAsObject());
    statement.reset();
    return rows;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.free();
    this.#database.close();
  }

  #prepare(sql: string): SqlJsStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}
