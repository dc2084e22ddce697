import { buildSchema, DEFAULT_MERGE_RULES, type Schema, type TableSchema } from '@rockpool/shared';
import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable, SQLiteView } from 'drizzle-orm/sqlite-core';
import { drizzleTableToSchema } from './drizzle-table.ts';
import { readHistoryRules, type TableHistory } from './history-rules.ts';
import { readMergeRules, type TableMergeRules } from './merge-rules.ts';
import { throwProblems, type DeclarationProblem } from './problems.ts';
import { readSearchIndexes, SearchIndex } from './search-index.ts';
import { VERSION_NAME_RULES, versionName } from './version-name.ts';

export interface DefineSchemaOptions {
  /** Tables that stay on this device. They are stored and visible to live queries, but never sent. Default: none. */
  readonly local?: readonly SQLiteTable[];
  /** How concurrent writes merge in tables that need more than the default. */
  readonly merge?: readonly TableMergeRules[];
  /**
   * Tables whose rows have a history: the server keeps each version, with author and time, for `client.history`. Name
   * the table, or `{ table, retainedDays }`. Default: none.
   */
  readonly history?: readonly (SQLiteTable | TableHistory)[];
}

/**
 * Converts Drizzle tables into the schema of a Rockpool database. Every table syncs unless it is listed in `local`. If
 * two devices write the same cell concurrently, the later write wins and the other goes into the conflict log; `merge`
 * declares other rules.
 *
 * Pass the tables and their search indexes as a list, or as an object such as `import * as tables`; other exports in
 * that object (relations, functions) are ignored.
 *
 * Throws `schema-invalid` with all problems at once. A synced table needs a primary key whose columns are NOT NULL and
 * which SQLite does not number itself, because two devices would assign the same numbers. Use a text key filled by
 * `newId()`.
 *
 * ```ts
 * const todo = sqliteTable('todo', { id: text().primaryKey(), title: text().notNull(), done: integer({ mode: 'boolean'
 * }).notNull().default(false) }); export const schema = defineSchema({ todo });
 * ```
 */
export function defineSchema(
  tables: readonly (SQLiteTable | SearchIndex)[] | Readonly<Record<string, unknown>>,
  options: DefineSchemaOptions = {},
): Schema {
  const problems: DeclarationProblem[] = [];
  const declared: unknown[] = Object.values(tables);
  const localNames = new Set((options.local ?? []).map((table) => getTableName(table)));
  const rulesByTable = readMergeRules(options.merge ?? [], problems);
  const historyByTable = readHistoryRules(options.history ?? [], problems);
  const searchIndexesByTable = readSearchIndexes(
    declared.filter((value) => value instanceof SearchIndex),
    problems,
  );
  const converted: TableSchema[] = [];

  for (const value of declared) {
    if (is(value, SQLiteTable)) {
      const name = getTableName(value);
      const searchIndexes = searchIndexesByTable.get(name);
      const history = historyByTable.get(name);
      const rules = {
        synced: !localNames.has(name),
        merge: rulesByTable.get(name) ?? (value === versionName ? VERSION_NAME_RULES : DEFAULT_MERGE_RULES),
        ...(searchIndexes === undefined ? {} : { searchIndexes }),
        ...(history === undefined ? {} : { history }),
      };
      converted.push(drizzleTableToSchema(value, rules, problems));
    }
    // If a view were ignored silently, the app would assume that it exists.
    else if (is(value, SQLiteView))
      problems.push({
        table: 'views',
        column: null,
        problem: 'Views cannot be declared in the schema; use the SELECT itself.',
      });
  }
  for (const name of new Set([
    ...localNames,
    ...rulesByTable.keys(),
    ...historyByTable.keys(),
    ...searchIndexesByTable.keys(),
  ])) {
    if (!converted.some((table) => table.name === name))
      problems.push({
        table: name,
        column: null,
        problem: 'The options or a search index name this table, which is not among the tables passed to defineSchema.',
      });
  }
  if (converted.length === 0)
    problems.push({ table: 'schema', column: null, problem: 'Pass at least one Drizzle SQLite table.' });

  if (problems.length > 0) throwProblems(problems, converted);
  return buildSchema(converted);
}
