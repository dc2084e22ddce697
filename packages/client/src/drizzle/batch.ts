import { is } from 'drizzle-orm';
import { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw';
import { RockpoolError } from '@rockpool/client';
import type { SqlStatement, StatementResult } from '../client.ts';
import { fillParams } from './placeholders.ts';
import { RockpoolQuery } from './prepared-query.ts';

/** What a batch takes: an insert, update or delete, or `db.run` of SQL text; none of them awaited. */
export interface DrizzleWrite {
  readonly _: { readonly dialect: 'sqlite'; readonly result: StatementResult };
}

/** How Drizzle's builders hand themselves to a driver; it keeps this out of their types. */
interface Preparable {
  _prepare(): unknown;
}

/** Throws `sql-forbidden` for what gives rows, which a batch has no place for. */
export function statementOfBatch(write: DrizzleWrite): SqlStatement {
  const prepared = (write as unknown as Preparable)._prepare();
  if (is(prepared, SQLiteRaw)) {
    const { sql, params, method } = prepared.getQuery();
    if (method !== 'run') throw givesRows();
    return { sql, params: fillParams(params, {}) };
  }
  if (!(prepared instanceof RockpoolQuery) || prepared.givesRows) throw givesRows();
  return prepared.writeStatement();
}

function givesRows(): RockpoolError {
  return new RockpoolError('sql-forbidden', { problem: 'rows-in-batch' });
}
