import {
  RockpoolError,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
  type StatementResult,
  type TransactionOptions,
} from '@rockpool/client';
import type { Query } from 'drizzle-orm';
import { SQLitePreparedQuery, type PreparedQueryConfig, type SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core';
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

/** The values of placeholders, by name. */
export type PlaceholderValues = Record<string, unknown>;

/** How the rows of a query are mapped to Drizzle's types. */
export type RowShape =
  /** `select` and `returning`. */
  | { readonly kind: 'fields'; readonly fields: readonly SelectedField[] }
  /** `db.query`: Drizzle maps all rows at once, from their values by position. */
  | { readonly kind: 'relational'; readonly map: (rows: unknown[][]) => unknown }
  /** SQL text: the client's rows. */
  | { readonly kind: 'plain' };

/** What runs statements: a client, or one of its transactions. */
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
  /** True for a builder that writes. For SQL text, the caller decides whether it reads or writes. */
  readonly writes: boolean;
}

type Config = PreparedQueryConfig & { type: 'async'; run: WriteResult };

/** One Drizzle statement with placeholders. Its errors are those of the client. */
export class RockpoolQuery extends SQLitePreparedQuery<Config> {
  /** Set by Drizzle once it has built a `select` with joins. */
  joinsNotNullableMap: JoinedTables | undefined = undefined;
  private readonly parts: QueryParts;
  private decoder: RowDecoder | null = null;

  constructor(parts: QueryParts) {
    super('async', parts.method, parts.query);
    this.parts = parts;
  }

  /** True for a statement that returns rows. It can be live, but cannot be part of a batch. */
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
    // The number of columns of SQL text is unknown, but a subquery at least gives each of them a distinct name.
    const { sql, params } = this.readStatement(values);
    return (await this.parts.executor.query({ sql: `select * from (${sql})`, params })).map(valuesInOrder);
  }

  /** The statement for a write, alone or in a batch. */
  writeStatement(values: PlaceholderValues = {}): SqlStatement {
    const { query } = this.parts;
    return { sql: query.sql, params: fillParams(query.params, values) };
  }

  /** The statement for a read. Throws `sql-forbidden` for one that writes. */
  readStatement(values: PlaceholderValues = {}, firstOnly = false): SqlStatement {
    const { query, shape, writes } = this.parts;
    if (writes)
      throw new RockpoolError('sql-forbidden', {
        problem: 'the statement writes; use `db.run`, `execute` or a batch',
      });
    const sql = shape.kind === 'fields' ? withResultColumns(query.sql, shape.fields.length, firstOnly) : query.sql;
    return { sql, params: fillParams(query.params, values) };
  }

  /** One result per row, always as a list, also for `findFirst`. */
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
    // The columns of `returning`, as relational-dialect.ts names them.
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

/** JavaScript orders numeric property names first, so `select 'a' as x, 1` would swap its columns. */
function valuesInOrder(row: SqlRow): SqlValue[] {
  const names = Object.keys(row);
  if (names.length > 1 && names.some((name) => /^\d+$/.test(name)))
    throw new RockpoolError('query-invalid', { problem: 'column-named-by-number' });
  return Object.values(row);
}
