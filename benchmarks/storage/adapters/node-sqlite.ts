// SQLite on the machine's disk, through node:sqlite: the cost of the same work without a browser.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Operations } from '../operations.ts';
import { sqlOperations, type SqlDatabase, type SqlParameter, type SqlRow } from '../sql-operations.ts';
import type { Settings } from './adapter.ts';

export function open(folder: string, database: string, settings: Settings): Operations {
  const opened = new DatabaseSync(join(folder, `${database}.db`));
  if (typeof settings['pragmas'] === 'string') opened.exec(settings['pragmas']);
  return sqlOperations(new NodeDatabase(opened));
}

class NodeDatabase implements SqlDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, parameters: readonly SqlParameter[]): void {
    this.#prepare(sql).run(...parameters);
  }

  runMany(sql: string, parameterLists: readonly (readonly SqlParameter[])[]): void {
    this.exec('BEGIN');
    const statement = this.#prepare(sql);
    for (const parameters of parameterLists) statement.run(...parameters);
    this.exec('COMMIT');
  }

  rows(sql: string, parameters: readonly SqlParameter[] = []): SqlRow[] {
    return this.#prepare(sql).all(...parameters);
  }

  close(): void {
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}
