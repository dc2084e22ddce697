import { keyColumns, quoteName, type SearchIndexSchema, type TableSchema } from '@rockpool/shared';
import { evictionConditions, evictionColumns } from '../capture/evicted-rows.ts';

/** Temporary tables and triggers of search indexes have this prefix; policies allow only these triggers to write these tables. */
export const SEARCH_PREFIX = 'rockpool_search_';

export function searchIndexName(index: SearchIndexSchema): string {
  return `main.${quoteName(index.name)}`;
}

/** An FTS5 table that keeps the words alone: what it is of is read from the table, by rowid. */
export function createSearchIndexSql(table: TableSchema, index: SearchIndexSchema): string {
  const columns = index.columns.map(quoteName).join(', ');
  return `CREATE VIRTUAL TABLE ${searchIndexName(index)} USING fts5(${columns}, content=${quoteText(table.name)}, tokenize=${quoteText(index.tokenize)})`;
}

export function dropSearchIndexSql(index: SearchIndexSchema): string {
  return `DROP TABLE ${searchIndexName(index)}`;
}

/** FTS5 takes orders as values of a column that has its own name. */
export function rebuildSearchIndexSql(index: SearchIndexSchema): string {
  return `INSERT INTO ${searchIndexName(index)} (${quoteName(index.name)}) VALUES ('rebuild')`;
}

/** Fails with SQLITE_CORRUPT_VTAB where the index is not what one made anew of the rows would be. */
export function checkSearchIndexSql(index: SearchIndexSchema): string {
  return `INSERT INTO ${searchIndexName(index)} (${quoteName(index.name)}, rank) VALUES ('integrity-check', 1)`;
}

/** Where the rows are written down that the index does not show yet. */
export interface SearchLog {
  readonly table: TableSchema;
  readonly index: SearchIndexSchema;
  /** Of the temporary table. */
  readonly name: string;
}

/** `was_there` 0: the index has nothing of the row; 1: it has these words. */
export function createLogSql({ name, index }: SearchLog): string {
  return `CREATE TEMP TABLE ${name} (row INTEGER PRIMARY KEY, was_there INTEGER NOT NULL, ${logColumns(index).join(', ')})`;
}

/**
 * Each trigger writes a row down once, as the index has it. What it is in the end is read from the table (search-indexes.ts).
 *
 * 1. Nothing here may meet a conflict: OR REPLACE and OR IGNORE of the statement that fires a trigger hold inside it as well.
 * 2. SQLite fires no delete triggers for rows that OR REPLACE evicts, so whatever may be in the way is written down beforehand. A row that stays
 *    as it was does no harm.
 */
export function createLogTriggersSql(log: SearchLog): readonly string[] {
  const { table, index, name } = log;
  const target = `main.${quoteName(table.name)}`;
  const isInTheWay = `(${['evicted.rowid = new.rowid', ...evictionConditions(table)].join(' OR ')})`;
  const isAnother = `${isInTheWay} AND evicted.rowid <> old.rowid`;
  const logEvicted = (condition: string): string =>
    `INSERT INTO ${name} SELECT evicted.rowid, 1, ${index.columns.map((column) => `evicted.${quoteName(column)}`).join(', ')} FROM ${target} AS evicted WHERE ${condition} AND ${notLogged(name, 'evicted')};`;
  const logOld = `INSERT INTO ${name} SELECT old.rowid, 1, ${index.columns.map((column) => `old.${quoteName(column)}`).join(', ')} WHERE ${notLogged(name, 'old')};`;
  const logNew = `INSERT INTO ${name} (row, was_there) SELECT new.rowid, 0 WHERE ${notLogged(name, 'new')};`;
  const trigger = (event: string, timing: string, condition: string, body: string): string =>
    `CREATE TEMP TRIGGER ${name}_${event} ${timing} ON ${target}${condition} BEGIN ${body} END`;
  const isEvicting = (condition: string): string => ` WHEN EXISTS (SELECT 1 FROM ${target} AS evicted WHERE ${condition})`;
  return [
    trigger('before_insert', 'BEFORE INSERT', isEvicting(isInTheWay), logEvicted(isInTheWay)),
    trigger('insert', 'AFTER INSERT', '', logNew),
    trigger('before_update', `BEFORE UPDATE${ofColumns(evictionColumns(table))}`, isEvicting(isAnother), logEvicted(isAnother)),
    trigger('update', `AFTER UPDATE${ofColumns(indexedBy(table, index))}`, ` WHEN ${differs(index)}`, `${logOld} ${logNew}`),
    trigger('delete', 'AFTER DELETE', '', logOld),
  ];
}

export function dropLogSql({ name }: SearchLog): string {
  return `${['before_insert', 'insert', 'before_update', 'update', 'delete'].map((event) => `DROP TRIGGER temp.${name}_${event};`).join(' ')} DROP TABLE temp.${name}`;
}

/** Takes the words of logged rows out of the index as they were, and puts them in as they are. */
export function catchUpSql({ table, index, name }: SearchLog): readonly string[] {
  const columns = index.columns.map(quoteName).join(', ');
  const target = searchIndexName(index);
  return [
    `INSERT INTO ${target} (${quoteName(index.name)}, rowid, ${columns}) SELECT 'delete', row, ${logColumns(index).join(', ')} FROM temp.${name} WHERE was_there`,
    `INSERT INTO ${target} (rowid, ${columns}) SELECT rowid, ${columns} FROM main.${quoteName(table.name)} WHERE rowid IN (SELECT row FROM temp.${name})`,
    `DELETE FROM temp.${name}`,
  ];
}

function logColumns({ columns }: SearchIndexSchema): string[] {
  return columns.map((_, position) => `c${position}`);
}

function notLogged(log: string, row: 'old' | 'new' | 'evicted'): string {
  return `NOT EXISTS (SELECT 1 FROM ${log} WHERE row = ${row}.rowid)`;
}

function ofColumns(columns: readonly string[] | null): string {
  return columns === null ? '' : ` OF ${columns.map(quoteName).join(', ')}`;
}

/** The columns of which one has to be assigned for the index to change. Null: any, as generated columns change with others. */
function indexedBy(table: TableSchema, index: SearchIndexSchema): readonly string[] | null {
  if (table.columns.some(({ name, generated }) => generated !== null && index.columns.includes(name))) return null;
  // A key that is one integer is the rowid.
  const key = keyColumns(table);
  return [...index.columns, ...(key.length === 1 && key[0]?.type === 'integer' ? table.primaryKey : [])];
}

/** Whatever the collation of a column takes for equal. */
function differs(index: SearchIndexSchema): string {
  return ['old.rowid <> new.rowid', ...index.columns.map(quoteName).map((name) => `old.${name} IS NOT new.${name} COLLATE BINARY`)].join(' OR ');
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
