import { keyColumns, quoteName, type SearchIndexSchema, type TableSchema } from '@rockpool/shared';
import { evictionConditions, evictionColumns } from './evicted-rows.ts';

function searchIndexName(index: SearchIndexSchema): string {
  return `main.${quoteName(index.name)}`;
}

/** An FTS5 table that stores only the words; the text itself is read from the indexed table by rowid. */
export function createSearchIndexSql(table: TableSchema, index: SearchIndexSchema): string {
  const columns = index.columns.map(quoteName).join(', ');
  return `CREATE VIRTUAL TABLE ${searchIndexName(index)} USING fts5(${columns}, content=${quoteText(table.name)}, tokenize=${quoteText(index.tokenize)})`;
}

export function dropSearchIndexSql(index: SearchIndexSchema): string {
  return `DROP TABLE ${searchIndexName(index)}`;
}

/** FTS5 takes commands as values of the column with its own name. */
export function rebuildSearchIndexSql(index: SearchIndexSchema): string {
  return `INSERT INTO ${searchIndexName(index)} (${quoteName(index.name)}) VALUES ('rebuild')`;
}

/** Fails with SQLITE_CORRUPT_VTAB when the index differs from one rebuilt from the rows. */
export function checkSearchIndexSql(index: SearchIndexSchema): string {
  return `INSERT INTO ${searchIndexName(index)} (${quoteName(index.name)}, rank) VALUES ('integrity-check', 1)`;
}

/** The log of rows whose changes are not in the index yet. */
export interface SearchIndexLog {
  readonly table: TableSchema;
  readonly index: SearchIndexSchema;
  /** The name of the temporary table. */
  readonly name: string;
}

/** `was_there` is 0 if the index has no words of the row, and 1 if it has these words. */
export function createLogSql({ name, index }: SearchIndexLog): string {
  return `CREATE TEMP TABLE ${name} (row INTEGER PRIMARY KEY, was_there INTEGER NOT NULL, ${logColumns(index).join(', ')})`;
}

/**
 * The triggers that log each changed row once, with its words in the index. The row's final words are read from the
 * table (search-indexes.ts).
 *
 * 1. No statement here may cause a conflict: OR REPLACE and OR IGNORE of the statement that fires a trigger also apply
 *    to the trigger's statements.
 * 2. SQLite fires no delete triggers for rows that OR REPLACE evicts, so every row that may conflict is logged
 *    beforehand. Logging a row that does not change is harmless.
 * 3. Each trigger checks in its WHEN whether it has something to do, which costs half as much as a condition in its
 *    statement.
 */
function logTriggers({ table, index, name }: SearchIndexLog): Readonly<Record<string, string>> {
  const target = `main.${quoteName(table.name)}`;
  const columns = index.columns.map(quoteName);
  const isInTheWay = `(${['evicted.rowid = new.rowid', ...evictionConditions(table)].join(' OR ')})`;
  const isAnother = `${isInTheWay} AND evicted.rowid <> old.rowid`;
  const logEvicted = (condition: string): string =>
    `WHEN EXISTS (SELECT 1 FROM ${target} AS evicted WHERE ${condition}) BEGIN
       INSERT INTO ${name} SELECT evicted.rowid, 1, ${columns.map((column) => `evicted.${column}`).join(', ')} FROM ${target} AS evicted WHERE ${condition} AND ${notLogged(name, 'evicted')};
     END`;
  const logOld = `BEGIN INSERT INTO ${name} VALUES (old.rowid, 1, ${columns.map((column) => `old.${column}`).join(', ')}); END`;
  const logNew = `BEGIN INSERT INTO ${name} (row, was_there) VALUES (new.rowid, 0); END`;
  const numbered = rowidColumns(table);
  return {
    before_insert: `BEFORE INSERT ON ${target} ${logEvicted(isInTheWay)}`,
    insert: `AFTER INSERT ON ${target} WHEN ${notLogged(name, 'new')} ${logNew}`,
    before_update: `BEFORE UPDATE${ofColumns(evictionColumns(table))} ON ${target} ${logEvicted(isAnother)}`,
    update: `AFTER UPDATE${ofColumns(assignedColumns(table, index))} ON ${target} WHEN (${differs([...columns, ...numbered.map(quoteName)])}) AND ${notLogged(name, 'old')} ${logOld}`,
    ...(numbered.length === 0
      ? {}
      : {
          move: `AFTER UPDATE${ofColumns(numbered)} ON ${target} WHEN old.rowid <> new.rowid AND ${notLogged(name, 'new')} ${logNew}`,
        }),
    delete: `AFTER DELETE ON ${target} WHEN ${notLogged(name, 'old')} ${logOld}`,
  };
}

export function createLogTriggersSql(log: SearchIndexLog): string[] {
  return Object.entries(logTriggers(log)).map(
    ([event, trigger]) => `CREATE TEMP TRIGGER ${log.name}_${event} ${trigger}`,
  );
}

export function dropLogSql(log: SearchIndexLog): string {
  return [
    ...Object.keys(logTriggers(log)).map((event) => `DROP TRIGGER temp.${log.name}_${event}`),
    `DROP TABLE temp.${log.name}`,
  ].join('; ');
}

/** Removes the old words of logged rows from the index and adds the current ones. */
export function catchUpSql({ table, index, name }: SearchIndexLog): readonly string[] {
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

/**
 * The index changes only if a statement assigns to one of these columns. Null means any column, because a generated
 * column changes with the columns that it is computed from.
 */
function assignedColumns(table: TableSchema, index: SearchIndexSchema): readonly string[] | null {
  const isGenerated = table.columns.some(({ name, generated }) => generated !== null && index.columns.includes(name));
  return isGenerated ? null : [...index.columns, ...rowidColumns(table)];
}

/** A key of one integer column is the rowid. */
function rowidColumns(table: TableSchema): readonly string[] {
  const key = keyColumns(table);
  return key.length === 1 && key[0]?.type === 'integer' ? table.primaryKey : [];
}

/** Compares bytes, because a collation may treat different texts as equal. */
function differs(columns: readonly string[]): string {
  return columns.map((name) => `old.${name} IS NOT new.${name} COLLATE BINARY`).join(' OR ');
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
