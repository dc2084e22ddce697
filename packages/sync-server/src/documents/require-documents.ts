import {
  documentColumns,
  quoteName,
  RockpoolError,
  syncedTables,
  type DocumentRule,
  type Schema,
} from '@rockpool/shared';
import { readContent } from '@rockpool/shared/document';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/**
 * Checks the values of columns that become documents with the schema `after`. Throws `schema-incompatible` if any of
 * them is not a document: no device could receive its row, nor any other row with it.
 */
export function requireDocuments(sql: SqliteFile, before: Schema, after: Schema): void {
  const problems = syncedTables(after).flatMap((table) => {
    const old = before.tables.find(({ id }) => id === table.id);
    if (old === undefined) return [];
    const known = documentColumns(old);
    return [...documentColumns(table)].flatMap(([columnId, rule]) => {
      const name = table.columns.find(({ id }) => id === columnId)?.name ?? '';
      return known.has(columnId) || isValid(sql, table.name, name, rule)
        ? []
        : [`${table.name}: the column ${name} has values that are not documents of its rule`];
    });
  });
  if (problems.length > 0)
    throw new RockpoolError('schema-incompatible', { count: problems.length, problems: problems.join('\n') });
}

/** True for a column that the file does not have yet. Reads up to the first invalid value. */
function isValid(sql: SqliteFile, table: string, column: string, rule: DocumentRule): boolean {
  const name = quoteName(column);
  if (sql.get('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, column) === undefined) return true;
  for (const [text] of sql.rows(`SELECT ${name} FROM ${quoteName(table)} WHERE ${name} IS NOT NULL`)) {
    try {
      readContent(String(text), rule);
    } catch (error) {
      if (!(error instanceof RockpoolError)) throw error;
      return false;
    }
  }
  return true;
}
