import type { Query, TablesRelationalConfig } from 'drizzle-orm';
import { SQLiteSession, type SelectedFieldsOrdered, type SQLiteAsyncDialect, type SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core';
import { RockpoolError } from '@rockpool/client';
import type { Client, StatementResult } from '../client.ts';
import { RockpoolQuery, type RowShape } from './prepared-query.ts';

/** Where Drizzle's builders end: it makes statements for a client out of theirs. */
export class RockpoolSession<Tables extends Record<string, unknown>, Relations extends TablesRelationalConfig> extends SQLiteSession<
  'async',
  StatementResult,
  Tables,
  Relations
> {
  private readonly client: Client;

  constructor(client: Client, dialect: SQLiteAsyncDialect) {
    super(dialect);
    this.client = client;
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
    return new RockpoolQuery({ client: this.client, query, shape: shapeOf(fields, mapRelational), method, writes });
  }

  /** Refuses at once: run one by one, the statements of `body` would not be a transaction. */
  override async transaction(): Promise<never> {
    throw new RockpoolError('sql-forbidden', { problem: 'transaction', instead: 'db.batch' });
  }
}

function shapeOf(fields: SelectedFieldsOrdered | undefined, mapRelational: ((rows: unknown[][]) => unknown) | undefined): RowShape {
  if (mapRelational !== undefined) return { kind: 'relational', map: mapRelational };
  return fields === undefined ? { kind: 'plain' } : { kind: 'fields', fields };
}
