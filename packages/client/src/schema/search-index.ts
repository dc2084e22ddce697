import { DEFAULT_TOKENIZE, RockpoolError, type SearchIndexSchema } from '@rockpool/shared';
import { getTableColumns, getTableName, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { searchText } from '../search-text.ts';
import type { DeclarationProblem } from './problems.ts';

export interface SearchIndexOptions {
  /** TEXT columns of the table. */
  readonly columns: readonly SQLiteColumn[];
  /** The table name for MATCH. Default: the table's name with `_search`. */
  readonly name?: string;
  /**
   * An FTS5 tokenizer with its options. Default `unicode61 remove_diacritics 2`: words are runs of letters and digits,
   * and case and accents are ignored. `trigram` also finds any three or more letters inside a word, for about three
   * times the space.
   */
  readonly tokenize?: string;
}

/** A declared full-text index. */
export class SearchIndex {
  readonly table: SQLiteTable;
  readonly name: string;
  readonly columns: readonly SQLiteColumn[];
  readonly tokenize: string;

  constructor(table: SQLiteTable, { columns, name, tokenize }: SearchIndexOptions) {
    this.table = table;
    this.name = name ?? `${getTableName(table)}_search`;
    this.columns = columns;
    this.tokenize = tokenize ?? DEFAULT_TOKENIZE;
  }
}

/**
 * Declares a full-text index over a table: an FTS5 table that Rockpool creates on each device and keeps up to date with
 * every write. It never syncs. Pass it to `defineSchema` with the tables; find rows with `matches`, or with MATCH in
 * plain SQL.
 *
 * ```ts
 * export const todo = sqliteTable('todo', { id: text().primaryKey(), title: text().notNull(), note: text() });
 * export const todoSearch = searchIndex(todo, { columns: [todo.title, todo.note] });
 * export const schema = defineSchema({ todo, todoSearch });
 * ```
 */
export function searchIndex(table: SQLiteTable, options: SearchIndexOptions): SearchIndex {
  return new SearchIndex(table, options);
}

/**
 * Returns the condition that a row of the index's table contains every word of the user's input, where the beginning of
 * a word is enough. No input causes a syntax error; input without words finds nothing.
 *
 * ```ts
 * database.select().from(todo).where(matches(todoSearch, 'milk bre'));
 * ```
 *
 * If a query uses the table under a different name, pass that name: `matches(todoSearch, typed, alias(todo, 'other'))`.
 * Throws `query-invalid` for a different table.
 */
export function matches(index: SearchIndex, typed: string, table: SQLiteTable = index.table): SQL<boolean> {
  const names = new Set(Object.values(getTableColumns(table)).map((column) => column.name));
  if (!index.columns.every((column) => names.has(column.name)))
    throw new RockpoolError('query-invalid', {
      problem: 'the search index belongs to a different table',
      index: index.name,
      table: getTableName(table),
    });
  const name = sql.identifier(index.name);
  return sql<boolean>`${sql.identifier(getTableName(table))}.rowid IN (SELECT rowid FROM ${name} WHERE ${name} MATCH ${searchText(typed)})`;
}

/**
 * Returns the indexes by table name and reports invalid declarations. The schema's own validation checks whether a
 * column can be searched.
 */
export function readSearchIndexes(
  declared: readonly SearchIndex[],
  problems: DeclarationProblem[],
): Map<string, SearchIndexSchema[]> {
  for (const { table, name, columns } of declared) {
    for (const column of columns) {
      if (column.table !== table)
        problems.push({
          table: getTableName(table),
          column: column.name,
          problem: `The search index ${name} names this column, which belongs to a different table.`,
        });
    }
  }
  const byTable = Map.groupBy(declared, ({ table }) => getTableName(table));
  return new Map(
    [...byTable].map(([table, indexes]) => [
      table,
      indexes.map(({ name, columns, tokenize }) => ({ name, columns: columns.map((column) => column.name), tokenize })),
    ]),
  );
}
