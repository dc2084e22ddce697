/** An empty text would be a syntax error. */
const NO_WORDS = '""';

/**
 * What a person typed into a search field, as an expression for MATCH: rows that have every word of it, in any column,
 * the beginning of a word being enough. Whatever was typed, it is never a syntax error; without any word it finds
 * nothing.
 *
 * ```ts
 * client.query(sql`SELECT todo.* FROM todo_search JOIN todo ON todo.rowid = todo_search.rowid WHERE todo_search MATCH
 * ${searchText(typed)} ORDER BY rank`);
 * ```
 *
 * Words are what stands between spaces. One with other signs inside, such as `e-mail`, is found where its parts follow
 * each other.
 */
export function searchText(typed: string): string {
  const words = typed
    .replaceAll('\u0000', ' ')
    .toWellFormed()
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length === 0 ? NO_WORDS : words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(' ');
}
