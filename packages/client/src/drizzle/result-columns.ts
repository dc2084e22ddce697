import { sql, type SQL } from 'drizzle-orm';

/*
 * Drizzle takes the values of a row by their position, the client gives them by column name. Joins give two columns of
 * one name, of which a row object can hold one only, and how SQLite names a column without AS is not promised to
 * anyone. So what Drizzle asks for runs with names of our own:
 *
 *   with "rockpool_result"("c0", "c1") as (select "todo"."id", "list"."id" from …) select * from "rockpool_result"
 *
 * SQLite flattens this: plan and order are those of the query inside, and a wrong count of columns is an error, not a
 * wrong row.
 */
const RESULT_NAME = 'rockpool_result';

/** The name under which a row holds its value at this position. */
export function resultColumn(position: number): string {
  return `c${position}`;
}

/** A query whose rows hold `c0`, `c1` and so on. `firstOnly`: not more than one row of it is wanted. */
export function withResultColumns(query: string, columnCount: number, firstOnly = false): string {
  return `${head(columnCount)}${query}${tail}${firstOnly ? ' limit 1' : ''}`;
}

/** The same for a query that still holds its values. */
export function sqlWithResultColumns(query: SQL, columnCount: number): SQL {
  return sql`${sql.raw(head(columnCount))}${query}${sql.raw(tail)}`;
}

function head(columnCount: number): string {
  const names = Array.from({ length: columnCount }, (_, position) => `"${resultColumn(position)}"`).join(', ');
  return `with "${RESULT_NAME}"(${names}) as (`;
}

const tail = `) select * from "${RESULT_NAME}"`;
