// @sqlite.org/sqlite-wasm with its pool of access handles (opfs-sahpool), through its oo1 API. Its build has 8 KB pages
// and a 16 MB cache.
import initialise, { type Oo1Database, type PreparedStatement } from '@sqlite.org/sqlite-wasm';
import { sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const sqlite = await initialise();
  const pool = await sqlite.installOpfsSAHPoolVfs({ name: `sahpool-${database}`, directory: `/sahpool-${database}` });
  const opened = new pool.OpfsSAHPoolDb(`/${database}.db`);
  if (typeof settings['pragmas'] === 'string') opened.exec(settings['pragmas']);
  return { operations: sqlOperations(new SqliteWasmDatabase(opened)) };
}

class SqliteWasmDatabase implements SqlDatabase {
  readonly #database: Oo1Database;
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(database: Oo1Database) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, parameters: readonly SqlParameter[]): void {
    this.#prepare(sql).bind(parameters).stepReset();
  }

  runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): void {
    this.exec('BEGIN');
    const statement = this.#prepare(sql);
    for (const parameters of parameterLists) statement.bind(parameters).stepReset();
    this.exec('COMMIT');
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): SqlRow[] {
    const statement = this.#prepare(sql);
    if (parameters.length > 0) statement.bind(parameters);
    const rows: SqlRow[] = [];
    while (statement.step()) rows.push(statement.get({}));
    statement.reset();
    return rows;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#database.close();
  }

  #prepare(sql: string): PreparedStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}
