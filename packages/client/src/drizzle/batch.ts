import { RockpoolError, type SqlStatement, type StatementResult } from '@rockpool/client';
import { is } from 'drizzle-orm';
import { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw';
import { fillParams } from './placeholders.ts';
import { RockpoolQuery } from './prepared-query.ts';

/** A statement of a batch: an insert, update or delete, or `db.run` of SQL text, not awaited. */
export interface DrizzleWrite {
  readonly _: { readonly dialect: 'sqlite'; readonly result: StatementResult };
}

/** How Drizzle's builders pass themselves to a driver; not part of their types. */
interface Preparable {
  _prepare(): unknown;
}

/**
 * Returns the SQL of a write in a batch. Throws `sql-forbidden` for a statement that returns rows, which a batch cannot
 * return.
 */
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
  return new RockpoolError('sql-forbidden', { problem: 'a batch cannot contain statements that return rows' });
}
