import type { Query } from 'drizzle-orm';
import { SQLitePreparedQuery, type PreparedQueryConfig, type SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core';
import { RockpoolError } from '@rockpool/client';
import type { SqlRow, SqlStatement, SqlValue, StatementResult, TransactionOptions } from '../client.ts';
import { fillParams } from './placeholders.ts';
import { resultColumn, withResultColumns } from './result-columns.ts';
import { rejectedWrite, withSynced, type WriteResult } from './write-result.ts';
import {
  createRowDecoder,
  undecodable,
  type JoinedTables,
  type RowDecoder,
  type SelectedField,
} from './row-decoder.ts';

export type PlaceholderValues = Record<string, unknown>;

/** How the rows of a query become what Drizzle's types promise. */
export type RowShape =
  /** Of `select`, and of `returning`. */
  | { readonly kind: 'fields'; readonly fields: readonly SelectedField[] }
  /** Of `db.query`: Drizzle maps all rows at once, from their values by position. */
  | { readonly kind: 'relational'; readonly map: (rows: unknown[][]) => unknown }
  /** Of SQL text: what the client gives. */
  | { readonly kind: 'plain' };

/** What runs statements: a client, or a transaction of one. */
export interface Executor {
  query(statement: SqlStatement): Promise<SqlRow[]>;
  execute(statement: SqlStatement): Promise<StatementResult>;
  transaction<T>(body: (tx: Executor) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface QueryParts {
  readonly executor: Executor;
  readonly query: Query;
  readonly shape: RowShape;
  readonly method: SQLiteExecuteMethod;
  /** Of a builder that writes. SQL text is what its caller takes it for. */
  readonly writes: boolean;
}

type Config = PreparedQueryConfig & { type: 'async'; run: WriteResult };

/** One statement of Drizzle, with places for values. Its errors are those of the client. */
export class RockpoolQuery extends SQLitePreparedQuery<Config> {
  /** Set by Drizzle once it has made a `select` with joins. */
  joinsNotNullableMap: JoinedTables | undefined = undefined;
  private readonly parts: QueryParts;
  private decoder: RowDecoder | null = null;

  constructor(parts: QueryParts) {
    super('async', parts.method, parts.query);
    this.parts = parts;
  }

  /** True for what gives rows: it can be live, and has no place in a batch. */
  get givesRows(): boolean {
    return this.parts.method !== 'run';
  }

  override run(values: PlaceholderValues = {}): Promise<WriteResult> {
    let statement: SqlStatement;
    try {
      statement = this.writeStatement(values);
    } catch (thrown) {
      return rejectedWrite(thrown);
    }
    return withSynced(this.parts.executor.execute(statement));
  }

  override async all(values: PlaceholderValues = {}): Promise<unknown> {
    return this.parts.shape.kind === 'relational'
      ? this.mapRelational(await this.read(values))
      : this.decodeRows(await this.read(values));
  }

  override async get(values: PlaceholderValues = {}): Promise<unknown> {
    const rows = await this.read(values, true);
    return this.parts.shape.kind === 'relational' ? this.mapRelational(rows) : this.decodeRows(rows.slice(0, 1))[0];
  }

  override async values(values: PlaceholderValues = {}): Promise<unknown[][]> {
    if (this.parts.shape.kind !== 'plain') return (await this.read(values)).map((row) => Object.values(row));
    // How many columns SQL text gives is not known; a subquery at least gives each a name of its own.
    const { sql, params } = this.readStatement(values);
    return (await this.parts.executor.query({ sql: `select * from (${sql})`, params })).map(valuesInOrder);
  }

  /** The statement to write, alone or in a batch. */
  writeStatement(values: PlaceholderValues = {}): SqlStatement {
    const { query } = this.parts;
    return { sql: query.sql, params: fillParams(query.params, values) };
  }

  /** The statement to read. Throws `sql-forbidden` for one that writes. */
  readStatement(values: PlaceholderValues = {}, firstOnly = false): SqlStatement {
    const { query, shape, writes } = this.parts;
    if (writes) throw new RockpoolError('sql-forbidden', { problem: 'write' });
    const sql = shape.kind === 'fields' ? withResultColumns(query.sql, shape.fields.length, firstOnly) : query.sql;
    return { sql, params: fillParams(query.params, values) };
  }

  /** One result per row, always a list: of `findFirst` too. */
  decodeRows(rows: readonly SqlRow[]): unknown[] {
    const { shape } = this.parts;
    if (shape.kind === 'plain') return [...rows];
    if (shape.kind === 'fields') {
      this.decoder ??= createRowDecoder(shape.fields, this.joinsNotNullableMap ?? null);
      return rows.map(this.decoder);
    }
    const mapped = this.mapRelational(rows);
    if (Array.isArray(mapped)) return mapped;
    return mapped === undefined ? [] : [mapped];
  }

  private async read(values: PlaceholderValues, firstOnly = false): Promise<SqlRow[]> {
    const { executor, writes } = this.parts;
    // Of `returning`, as relational-dialect.ts names it.
    if (writes) return [...(await executor.execute(this.writeStatement(values))).rows];
    return executor.query(this.readStatement(values, firstOnly));
  }

  private mapRelational(rows: readonly SqlRow[]): unknown {
    const { shape } = this.parts;
    if (shape.kind !== 'relational') throw new RockpoolError('internal', { shape: shape.kind });
    const [first] = rows;
    const names = first === undefined ? [] : Object.keys(first).map((_, position) => resultColumn(position));
    try {
      return shape.map(rows.map((row) => names.map((name) => row[name])));
    } catch {
      throw undecodable(null);
    }
  }
}

/** JavaScript puts properties that look like numbers first, so `select 'a' as x, 1` would come out swapped. */
function valuesInOrder(row: SqlRow): SqlValue[] {
  const names = Object.keys(row);
  if (names.length > 1 && names.some((name) => /^\d+$/.test(name)))
    throw new RockpoolError('query-invalid', { problem: 'column-named-by-number' });
  return Object.values(row);
}
