import { sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

/**
 * Returns an SQL expression for the value at a path of a document: text or number, NULL if there is none, JSON text for
 * objects and arrays. SQLite uses an index over the same expression, for extracting, filtering and ordering alike.
 *
 * ```ts
 * const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) }, (table) => [
 *   index('page_kind').on(documentPath(table.content, 'kind')),
 * ]);
 * database.select().from(page).where(eq(documentPath(page.content, 'kind'), 'note'));
 * ```
 *
 * Steps are member names and positions in plain arrays, counted from 0.
 */
export function documentPath<T = unknown>(column: SQLiteColumn, ...steps: readonly (string | number)[]): SQL<T> {
  return sql<T>`${column} ->> ${pathLiteral(steps)}`;
}

/**
 * Returns an SQL expression for the plain text of a text with formats (`richText` in a document's declaration); an
 * empty text if there is none.
 *
 * ```ts
 * database.select({ id: page.id }).from(page).where(like(documentPlainText(page.content, 'body'), '%tide%'));
 * ```
 *
 * The expression is a subquery, so indexes and generated columns cannot use it.
 */
export function documentPlainText(column: SQLiteColumn, ...steps: readonly (string | number)[]): SQL<string> {
  return sql<string>`(SELECT coalesce(group_concat(run.value ->> 'insert', '' ORDER BY run.key), '') FROM json_each(${column}, ${pathLiteral(steps)}) AS run)`;
}

/** A literal, not a parameter: SQLite compares expressions as written. */
function pathLiteral(steps: readonly (string | number)[]): SQL {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('');
  return sql.raw(`'$${path.replaceAll("'", "''")}'`);
}
