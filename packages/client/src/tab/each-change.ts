import type { SqlStatement } from '../rpc/sql-statement.ts';

/**
 * A statement for a live query that only tells when to read again: its result differs at each run. A live query of the
 * statement itself reports nothing if two commits cancel each other out before its next run, although its subscriber
 * may have read the state between them.
 */
export function eachChangeOf({ sql, params }: SqlStatement): SqlStatement {
  return { sql: `SELECT random(), count(*) FROM (${sql})`, params };
}
