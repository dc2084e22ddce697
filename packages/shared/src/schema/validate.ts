import { POLICY_DECLARATIONS } from '../merge/policies/policies.ts';
import { RESERVED_TABLE_PREFIX } from './system-tables.ts';
import { reportForeignKeyRules } from './foreign-key-rule.ts';
import type { HistoryRule, SearchIndexSchema, TableSchema } from './schema.ts';
import { reportUniqueRule } from './unique-rule.ts';

/** One problem of a schema. All problems are reported at once. */
export interface SchemaProblem {
  readonly table: string;
  readonly column: string | null;
  /** A sentence that names the problem and the remedy. */
  readonly problem: string;
}

export function schemaProblems(tables: readonly TableSchema[]): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const names = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const ids = new Map<number, string>();
  for (const table of tables) {
    const report = (column: string | null, problem: string): void =>
      void problems.push({ table: table.name, column, problem });
    const lower = table.name.toLowerCase();
    if (lower.startsWith(RESERVED_TABLE_PREFIX) || lower.startsWith('sqlite_'))
      report(null, 'This name is reserved; choose another.');
    if (names.get(lower) !== table) report(null, 'Two tables have this name.');
    const sharer = ids.get(table.id);
    if (sharer !== undefined && sharer !== table.name)
      report(null, `The table ${sharer} has the same id; rename one of the two.`);
    ids.set(table.id, table.name);
    reportColumns(table, report);
    for (const index of table.searchIndexes ?? []) reportSearchIndex(table, index, tables, report);
    if (table.history !== undefined) reportHistory(table, table.history, report);
    if (table.synced) reportSyncedTable(table, names, report);
  }
  return problems;
}

/** The limit of a default build of SQLite. */
const MAX_COLUMNS = 2_000;

type Report = (column: string | null, problem: string) => void;

function reportColumns(table: TableSchema, report: Report): void {
  if (table.columns.length === 0) report(null, 'A table needs at least one column.');
  if (table.columns.length > MAX_COLUMNS)
    report(null, `A table may have at most ${MAX_COLUMNS} columns; this one has ${table.columns.length}.`);
  const ids = new Map<number, string>();
  const names = new Set<string>();
  for (const column of table.columns) {
    if (names.has(column.name.toLowerCase())) report(column.name, 'Two columns have this name.');
    names.add(column.name.toLowerCase());
    const sharer = ids.get(column.id);
    if (sharer !== undefined && sharer !== column.name)
      report(column.name, `The column ${sharer} has the same id; rename one of the two.`);
    ids.set(column.id, column.name);
  }
}

/** The tokenizers of SQLite. */
const TOKENIZERS: readonly string[] = ['unicode61', 'ascii', 'porter', 'trigram'];

/** FTS5 creates tables with these suffixes for each index. */
const SHADOW_SUFFIXES: readonly string[] = ['', '_data', '_idx', '_content', '_docsize', '_config'];

/** Names that FTS5 itself uses, or that a join from the index to the row uses. */
const ROWID_NAMES: readonly string[] = ['rowid', '_rowid_', 'oid'];

function reportSearchIndex(
  table: TableSchema,
  index: SearchIndexSchema,
  tables: readonly TableSchema[],
  report: Report,
): void {
  const name = index.name.toLowerCase();
  if (name.startsWith(RESERVED_TABLE_PREFIX) || name.startsWith('sqlite_'))
    report(null, `The name of the search index ${index.name} is reserved; choose another.`);
  const taken = tables.flatMap((other) => [
    other.name,
    ...(other.searchIndexes ?? []).filter((candidate) => candidate !== index).map((candidate) => candidate.name),
  ]);
  const clash = taken.find((other) => SHADOW_SUFFIXES.some((suffix) => other.toLowerCase() === name + suffix));
  if (clash !== undefined)
    report(null, `The search index ${index.name} needs the table name ${clash}, which is taken; rename the index.`);
  if (!TOKENIZERS.includes(index.tokenize.split(' ')[0] ?? ''))
    report(null, `The search index ${index.name} has an unknown tokenizer; use ${TOKENIZERS.join(', ')}.`);
  if (table.columns.some((column) => ROWID_NAMES.includes(column.name.toLowerCase())))
    report(
      null,
      `A table with the search index ${index.name} cannot have a column named rowid, _rowid_ or oid: the index uses that name.`,
    );
  if (index.columns.length === 0) report(null, `The search index ${index.name} needs at least one column.`);
  for (const [position, columnName] of index.columns.entries()) {
    const column = table.columns.find((candidate) => candidate.name === columnName);
    if (column === undefined)
      report(columnName, `The search index ${index.name} names a column that the table does not have.`);
    else if (column.type !== 'text')
      report(columnName, `The search index ${index.name} can only contain TEXT columns.`);
    else if (columnName.toLowerCase() === 'rank' || columnName.toLowerCase() === name)
      report(columnName, `The search index ${index.name} reserves this name; rename the column.`);
    if (index.columns.indexOf(columnName) !== position)
      report(columnName, `The search index ${index.name} names this column twice; remove one.`);
  }
}

function reportHistory({ synced }: TableSchema, { retainedDays }: HistoryRule, report: Report): void {
  if (!synced) report(null, 'A local table cannot have a history, because the server keeps the versions.');
  if (retainedDays !== null && !(Number.isSafeInteger(retainedDays) && retainedDays >= 1))
    report(null, 'retainedDays of the history must be a positive integer.');
}

function reportSyncedTable(table: TableSchema, tables: ReadonlyMap<string, TableSchema>, report: Report): void {
  if (table.primaryKey.length === 0)
    report(null, 'A synced table needs a primary key: it identifies rows across devices.');
  for (const name of table.primaryKey) {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (column === undefined) {
      report(name, 'The primary key names a column that the table does not have.');
      continue;
    }
    if (!column.notNull)
      report(name, 'A key column of a synced table must be NOT NULL: rows with NULL in their key are never captured.');
    if (column.generated !== null) report(name, 'A key column cannot be generated.');
    if (column.type === 'real' || column.type === 'numeric')
      report(name, 'A key column must be text, integer or blob: fractions that look equal can differ.');
    if (column.type === 'integer' && table.primaryKey.length === 1) {
      report(
        name,
        'SQLite assigns a single integer key, so two offline devices would give different rows the same key. Use a text key filled by newId().',
      );
    }
  }
  reportMergeRules(table, report);
  reportUniqueRule(
    table,
    [...tables.values()].flatMap(({ foreignKeys }) => foreignKeys),
    report,
  );
  reportForeignKeyRules(table, tables, report);
  for (const key of table.foreignKeys) {
    const target = tables.get(key.foreignTable.toLowerCase());
    if (target === undefined)
      report(
        key.columns[0] ?? null,
        `A foreign key points to the table ${key.foreignTable}, which the schema does not have.`,
      );
    else if (!target.synced)
      report(
        key.columns[0] ?? null,
        `A foreign key points to ${key.foreignTable}, which is not synced: other devices would not have the row.`,
      );
  }
}

function reportMergeRules(table: TableSchema, report: Report): void {
  const ruled = new Set<string>();
  for (const declaration of POLICY_DECLARATIONS) {
    for (const name of table.merge[declaration.key].flatMap((entry) => declaration.columnsOf(entry))) {
      const column = table.columns.find((candidate) => candidate.name === name);
      if (column === undefined) report(name, 'A merge rule names a column that the table does not have.');
      else if (column.generated !== null || table.primaryKey.includes(name))
        report(name, 'A merge rule may only name stored columns outside the key.');
      else if (ruled.has(name)) report(name, 'Two merge rules name this column.');
      else {
        const problem = declaration.columnProblem?.(column) ?? null;
        if (problem !== null) report(name, problem);
      }
      ruled.add(name);
    }
  }
  for (const declaration of POLICY_DECLARATIONS)
    for (const entry of table.merge[declaration.key]) declaration.reportEntry?.(entry, table, report);
}
