/** An empty MATCH expression would be a syntax error. */
const NO_WORDS = '""';

/**
 * Converts the input of a search field into an expression for MATCH. It finds rows that contain every word in any
 * column, where the beginning of a word is enough. No input causes a syntax error; input without words finds nothing.
 *
 * ```ts
 * client.query(sql`SELECT todo.* FROM todo_search JOIN todo ON todo.rowid = todo_search.rowid WHERE todo_search MATCH
 * ${searchText(typed)} ORDER BY rank`);
 * ```
 *
 * Spaces separate words. A word that contains other characters, such as `e-mail`, matches if its parts follow each
 * other.
 */
export function searchText(typed: string): string {
  const words = typed
    .replaceAll('\u0000', ' ')
    .toWellFormed()
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length === 0 ? NO_WORDS : words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(' ');
}
