import { sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

/**
 * What a document has at a path, as an SQL value: text, number, NULL where there is nothing; objects and arrays as JSON text. The same expression in
 * an index and in a query is what lets SQLite use the index, for extracting, filtering and ordering alike.
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
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('');
  // A literal and no parameter: SQLite compares expressions as they are written.
  return sql<T>`${column} ->> ${sql.raw(`'$${path.replaceAll("'", "''")}'`)}`;
}
