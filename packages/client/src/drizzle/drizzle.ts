import type { Client, SqlStatement, StatementResult, TransactionOptions, Write } from '@rockpool/client';
import {
  createTableRelationsHelpers,
  extractTablesRelationalConfig,
  type ExtractTablesWithRelations,
} from 'drizzle-orm';
import { BaseSQLiteDatabase, type SQLiteTransactionConfig } from 'drizzle-orm/sqlite-core';
import { statementOfBatch, type DrizzleWrite } from './batch.ts';
import { fixBlobModes } from './blob-modes.ts';
import { RelationalDialect } from './relational-dialect.ts';
import { RockpoolSession } from './session.ts';
import type { RelationalSchema, RockpoolTransaction } from './transaction.ts';
import { rejectedWrite, type WriteResult } from './write-result.ts';

export interface DrizzleOptions<Tables extends Record<string, unknown>> {
  /** Tables and relations, as in `import * as tables`. Only `db.query` needs them. */
  readonly schema?: Tables;
}

/** A Drizzle database over a client. */
export class RockpoolDatabase<
  Tables extends Record<string, unknown> = Record<string, never>,
> extends BaseSQLiteDatabase<'async', WriteResult, Tables> {
  /** The client that runs the statements. Closing it closes this database too. */
  readonly $client: Client;

  constructor(client: Client, tables: Tables | undefined) {
    const dialect = new RelationalDialect();
    const relations = tables === undefined ? undefined : relationalSchema(tables);
    super(
      'async',
      dialect,
      new RockpoolSession<Tables, ExtractTablesWithRelations<Tables>>(client, dialect, relations),
      relations,
    );
    this.$client = client;
  }

  /**
   * Runs a transaction, with the options, errors and limits of `client.transaction`. The promise has `synced`.
   * `tx.transaction` is a savepoint; `tx.rollback()` throws, and so rolls everything back.
   *
   * ```ts
   * const [made] = await db.transaction(async (tx) => {
   *   await tx.update(todo).set({ done: true });
   *   return tx.insert(todo).values({ id: newId(), title: 'milk' }).returning();
   * });
   * ```
   */
  override transaction<T>(
    body: (tx: RockpoolTransaction<Tables, ExtractTablesWithRelations<Tables>>) => Promise<T>,
    options?: SQLiteTransactionConfig & TransactionOptions,
  ): Write<T> {
    return super.transaction(body, options) as Write<T>;
  }

  /**
   * Runs the writes in one transaction: all of them take effect, or none. Results are in the order of the writes, and
   * the promise has `synced`. Rejects with `sql-forbidden`, before anything is written, if a statement has rows: a
   * `select`, or a write with `returning`.
   *
   * ```ts
   * await db.batch([db.insert(list).values({ id, name }), db.update(todo).set({ listId: id })]);
   * ```
   */
  batch<const Writes extends readonly DrizzleWrite[]>(
    writes: Writes,
  ): Write<{ -readonly [Index in keyof Writes]: StatementResult }> {
    let statements: SqlStatement[];
    try {
      statements = writes.map(statementOfBatch);
    } catch (thrown) {
      return rejectedWrite(thrown);
    }
    return this.$client.batch(statements) as Write<{ -readonly [Index in keyof Writes]: StatementResult }>;
  }
}

/**
 * Returns a Drizzle database over a client, with builders, relational queries, prepared statements and transactions.
 * Reads run on this tab's own connection, and each write in its own transaction. Writes that belong together use
 * `db.transaction`, or `db.batch` if they do not depend on each other.
 *
 * Failures reject with the client's `RockpoolError`, never with Drizzle's `DrizzleQueryError`, whose message would hold
 * the parameters. A statement that Drizzle cannot build throws Drizzle's own error.
 *
 * ```ts
 * const db = drizzle(client, { schema: tables });
 * await db.insert(todo).values({ id: newId(), title: 'milk' });
 * const open = await db.select().from(todo).where(eq(todo.done, false));
 * ```
 */
export function drizzle<Tables extends Record<string, unknown> = Record<string, never>>(
  client: Client,
  options: DrizzleOptions<Tables> = {},
): RockpoolDatabase<Tables> {
  fixBlobModes();
  return new RockpoolDatabase(client, options.schema);
}

function relationalSchema<Tables extends Record<string, unknown>>(
  tables: Tables,
): RelationalSchema<ExtractTablesWithRelations<Tables>> {
  const { tables: schema, tableNamesMap } = extractTablesRelationalConfig<ExtractTablesWithRelations<Tables>>(
    tables,
    createTableRelationsHelpers,
  );
  return { fullSchema: tables, schema, tableNamesMap };
}
