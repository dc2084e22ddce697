import { sql, type SQL } from 'drizzle-orm';

/*
 * Drizzle reads the values of a row by position; the client returns them by column name. A join may return two columns
 * with the same name, but a row object can hold only one of them, and SQLite does not specify the name of a column
 * without AS. Drizzle's queries therefore run with generated names:
 *
 *   with "rockpool_result"("c0", "c1") as (select "todo"."id", "list"."id" from …) select * from "rockpool_result"
 *
 * SQLite flattens this: plan and order are those of the query inside, and a wrong count of columns is an error, not a
 * wrong row.
 */
const RESULT_NAME = 'rockpool_result';

/** Returns the column name of the value at this position. */
export function resultColumn(position: number): string {
  return `c${position}`;
}

/** Wraps a query so that its rows hold `c0`, `c1` and so on. `firstOnly` limits it to one row. */
export function withResultColumns(query: string, columnCount: number, firstOnly = false): string {
  return `${head(columnCount)}${query}${tail}${firstOnly ? ' limit 1' : ''}`;
}

/** Wraps a query that still contains its values. */
export function sqlWithResultColumns(query: SQL, columnCount: number): SQL {
  return sql`${sql.raw(head(columnCount))}${query}${sql.raw(tail)}`;
}

function head(columnCount: number): string {
  const names = Array.from({ length: columnCount }, (_, position) => `"${resultColumn(position)}"`).join(', ');
  return `with "${RESULT_NAME}"(${names}) as (`;
}

const tail = `) select * from "${RESULT_NAME}"`;
