import { sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

/**
 * What a document has at a path, as an SQL value: text, number, NULL where there is nothing; objects and arrays as JSON
 * text. The same expression in an index and in a query is what lets SQLite use the index, for extracting, filtering and
 * ordering alike.
 *
 * ```ts
 * const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) }, (table) => [
 *   index('page_kind').on(documentPath(table.content, 'kind')),
 * ]);
 * database.select().from(page).where(eq(documentPath(page.content, 'kind'), 'note'));
 * ```
 *
 * Steps are names of members and places in plain arrays, counted from 0.
 */
export function documentPath<T = unknown>(column: SQLiteColumn, ...steps: readonly (string | number)[]): SQL<T> {
  return sql<T>`${column} ->> ${pathLiteral(steps)}`;
}

/**
 * The characters of a text with formats (`richText` of a document's declaration), as SQL text without the formats;
 * empty where there is none.
 *
 * ```ts
 * database.select({ id: page.id }).from(page).where(like(documentPlainText(page.content, 'body'), '%tide%'));
 * ```
 *
 * It is a query of its own, so no index can be of it, and no generated column.
 */
export function documentPlainText(column: SQLiteColumn, ...steps: readonly (string | number)[]): SQL<string> {
  return sql<string>`(SELECT coalesce(group_concat(run.value ->> 'insert', '' ORDER BY run.key), '') FROM json_each(${column}, ${pathLiteral(steps)}) AS run)`;
}

/** A literal and no parameter: SQLite compares expressions as they are written. */
function pathLiteral(steps: readonly (string | number)[]): SQL {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('');
  return sql.raw(`'$${path.replaceAll("'", "''")}'`);
}
