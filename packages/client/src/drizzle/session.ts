import type { TransactionOptions } from '@rockpool/client';
import type { Query, TablesRelationalConfig } from 'drizzle-orm';
import {
  SQLiteSession,
  type SelectedFieldsOrdered,
  type SQLiteExecuteMethod,
  type SQLiteTransactionConfig,
} from 'drizzle-orm/sqlite-core';
import { RockpoolQuery, type Executor, type RowShape } from './prepared-query.ts';
import type { RelationalDialect } from './relational-dialect.ts';
import { RockpoolTransaction, type RelationalSchema } from './transaction.ts';
import type { WriteResult } from './write-result.ts';

/** Prepares the statements of Drizzle's builders, for a client or for one of its transactions. */
export class RockpoolSession<
  Tables extends Record<string, unknown>,
  Relations extends TablesRelationalConfig,
> extends SQLiteSession<'async', WriteResult, Tables, Relations> {
  private readonly executor: Executor;
  private readonly relationalDialect: RelationalDialect;
  private readonly relations: RelationalSchema<Relations> | undefined;

  constructor(executor: Executor, dialect: RelationalDialect, relations: RelationalSchema<Relations> | undefined) {
    super(dialect);
    this.executor = executor;
    this.relationalDialect = dialect;
    this.relations = relations;
  }

  override prepareQuery(
    query: Query,
    fields: SelectedFieldsOrdered | undefined,
    method: SQLiteExecuteMethod,
    _isResponseInArrayMode: boolean,
    mapRelational?: (rows: unknown[][]) => unknown,
    metadata?: { readonly type: 'select' | 'update' | 'delete' | 'insert' },
  ): RockpoolQuery {
    const writes = metadata !== undefined && metadata.type !== 'select';
    return new RockpoolQuery({ executor: this.executor, query, shape: shapeOf(fields, mapRelational), method, writes });
  }

  /**
   * Runs a transaction; within a transaction, a savepoint. Drizzle's `behavior` has no effect: a transaction always
   * waits until the writer is free.
   */
  override transaction<T>(
    body: (tx: RockpoolTransaction<Tables, Relations>) => Promise<T>,
    options: SQLiteTransactionConfig & TransactionOptions = {},
  ): Promise<T> {
    const { relationalDialect, relations } = this;
    return this.executor.transaction(
      (inner) =>
        body(
          new RockpoolTransaction(
            relationalDialect,
            new RockpoolSession(inner, relationalDialect, relations),
            relations,
          ),
        ),
      options,
    );
  }
}

function shapeOf(
  fields: SelectedFieldsOrdered | undefined,
  mapRelational: ((rows: unknown[][]) => unknown) | undefined,
): RowShape {
  if (mapRelational !== undefined) return { kind: 'relational', map: mapRelational };
  return fields === undefined ? { kind: 'plain' } : { kind: 'fields', fields };
}
