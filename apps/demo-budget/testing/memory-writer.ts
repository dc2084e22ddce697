import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Client, SqlParam, SqlStatement } from '@rockpool/client';
import { schema } from '../src/schema.ts';
import type { Writer } from '../src/writer.ts';

export interface MemoryWriter extends Writer, Pick<Client, 'stream'> {
  /** Every write statement, in order. */
  readonly written: readonly string[];
  rows<Row>(sql: string, params?: readonly SqlParam[]): Row[];
}

/**
 * The app's tables in Node's own SQLite, behind the client's interface, so that actions and queries are tested on real
 * SQL without a browser. Browser tests cover what Rockpool adds (tabs, capture, sync). Rockpool keeps search indexes
 * current; here they are rebuilt for each query.
 */
export function memoryWriter(): MemoryWriter {
  const db = new DatabaseSync(':memory:');
  for (const table of schema.tables) {
    const parts = table.columns.map(
      ({ name, type, notNull, defaultSql }) =>
        `"${name}" ${type}${notNull ? ' NOT NULL' : ''}${defaultSql === null ? '' : ` DEFAULT (${defaultSql})`}`,
    );
    parts.push(`PRIMARY KEY (${table.primaryKey.map((name) => `"${name}"`).join(', ')})`);
    for (const key of table.foreignKeys)
      parts.push(
        `FOREIGN KEY ("${key.columns.join('", "')}") REFERENCES "${key.foreignTable}" ON DELETE ${key.onDelete}`,
      );
    db.exec(`CREATE TABLE "${table.name}" (${parts.join(', ')})`);
    for (const { name, columns, tokenize } of table.searchIndexes ?? [])
      db.exec(
        `CREATE VIRTUAL TABLE "${name}" USING fts5("${columns.join('", "')}", content='${table.name}', tokenize='${tokenize}')`,
      );
  }
  const searchIndexes = schema.tables.flatMap((table) => (table.searchIndexes ?? []).map(({ name }) => name));
  const written: string[] = [];

  const run = ({ sql, params }: SqlStatement): { changes: number; rows: never[] } => {
    written.push(sql);
    return { changes: Number(db.prepare(sql).run(...inputs(params)).changes), rows: [] };
  };
  const rows = <Row>(sql: string, params: readonly SqlParam[] = []): Row[] => {
    for (const name of searchIndexes.filter((index) => sql.includes(index)))
      db.exec(`INSERT INTO "${name}" ("${name}") VALUES ('rebuild')`);
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    return statement
      .all(...inputs(params))
      .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, narrowed(value)])) as Row);
  };
  const statementOf = (given: SqlStatement | string, params?: readonly SqlParam[]): SqlStatement =>
    typeof given === 'string' ? { sql: given, params: params ?? [] } : given;

  const query: Writer['query'] = async <Row extends object>(
    given: SqlStatement | string,
    params?: readonly SqlParam[],
  ) => {
    const statement = statementOf(given, params);
    return await Promise.resolve(rows<Row>(statement.sql, statement.params));
  };
  const inTransaction = async <T>(body: () => Promise<T>): Promise<T> => {
    db.exec('BEGIN');
    try {
      const result = await body();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };

  return {
    written,
    rows,
    query,
    // The client yields some thousand rows at a time; batches of two also test that no row is lost between batches.
    stream: async function* <Row extends object>(
      given: SqlStatement | string,
      params?: readonly SqlParam[],
    ): AsyncGenerator<Row[], void, void> {
      const statement = statementOf(given, params);
      const all = rows<Row>(statement.sql, statement.params);
      for (let at = 0; at < all.length; at += 2) yield await Promise.resolve(all.slice(at, at + 2));
    },
    execute: async (given: SqlStatement | string, params?: readonly SqlParam[]) =>
      await Promise.resolve(run(statementOf(given, params))),
    batch: (statements) => inTransaction(async () => await Promise.resolve(statements.map(run))),
    transaction: (body) =>
      inTransaction(() => body({ query, execute: async (statement) => await Promise.resolve(run(statement)) })),
  };
}

function inputs(params: readonly SqlParam[]): SQLInputValue[] {
  return params.map((param) => (typeof param === 'boolean' ? Number(param) : param));
}

/** In the form in which Rockpool returns integers: a number if exact, otherwise a bigint. */
function narrowed(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
