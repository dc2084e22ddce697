import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** The interface that Evolu requires of SQLite: one call for reading and writing. */
export interface EvoluDriver {
  exec(query: { readonly sql: string; readonly parameters: readonly SQLInputValue[] }): {
    readonly rows: unknown[];
    readonly changes: number;
  };
  export(): Uint8Array;
  deleteDatabase(): void;
  [Symbol.dispose](): void;
}

/** Evolu's own drivers need a native module that aborts on this Node. */
export function openEvoluDriver(file: string): { readonly driver: EvoluDriver; readonly database: DatabaseSync } {
  const database = new DatabaseSync(file);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const driver: EvoluDriver = {
    exec({ sql, parameters }) {
      const statement = prepared(sql);
      if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: 0 };
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    },
    export: () => new Uint8Array(),
    deleteDatabase: () => undefined,
    [Symbol.dispose]: () => database.close(),
  };
  return { driver, database };
}
