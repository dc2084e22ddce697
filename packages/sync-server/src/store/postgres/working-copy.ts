import { keyMatchSql, quoteName, type CellValue, type Schema } from '@rockpool/shared';
import { openDatabaseFile, type DatabaseFile } from '../database-file.ts';
import { resyncFile } from '../durability.ts';
import type { MirroredTable } from './mirrored-table.ts';
import { forEachStoredChange, readStoredChanges, type StoredChange } from './stored-change.ts';
import { typedTableToDdl } from './typed-table.ts';

/** A commit of a database: its number and its 16 random bytes. */
export interface CommitPosition {
  readonly head: number;
  readonly commitId: Uint8Array;
}

/**
 * An instance's copy of one database: a SQLite file like that of the SQLite store, on which admission decides. The copy
 * changes only by applying commits from PostgreSQL, its own and those of other instances alike. It therefore always
 * equals PostgreSQL's state at `position`, and losing it loses no data.
 */
export class WorkingCopy {
  readonly file: DatabaseFile;
  private readonly tables: ReadonlyMap<string, MirroredTable>;
  private current: CommitPosition;

  constructor(file: DatabaseFile, tables: ReadonlyMap<string, MirroredTable>, position: CommitPosition) {
    this.file = file;
    this.tables = tables;
    this.current = position;
  }

  get position(): CommitPosition {
    return this.current;
  }

  /** Runs `body`, records its changes and rolls them back. */
  rehearse<Result>(body: () => Result): { readonly result: Result; readonly changeset: Uint8Array } {
    try {
      return this.file.sql.rehearse(body);
    } finally {
      resyncFile(this.file);
    }
  }

  /** Applies a commit. Throws if the copy has diverged from PostgreSQL. */
  apply(changeset: Uint8Array, position: CommitPosition): void {
    const { sql } = this.file;
    // Not by sqlite3changeset_apply, which expires every prepared statement of the file and compiles its own.
    const fits = sql.attempt(() => forEachStoredChange(changeset, (change) => this.applyChange(change)));
    if (!fits) sql.transaction(() => this.replaceRows(readStoredChanges(changeset)));
    this.current = position;
    resyncFile(this.file);
  }

  private applyChange({ table: name, kind, values }: StoredChange): void {
    const table = this.tableOf(name);
    const key = kind === 'insert' ? [] : keyOf(table, values);
    const written: CellValue[] = [];
    const columns: number[] = [];
    for (const [i, { isKey }] of table.columns.entries()) {
      const value = values[i];
      if (value === undefined || (isKey && kind !== 'insert')) continue;
      written.push(value);
      columns.push(i);
    }
    const statement =
      kind === 'insert' ? insertSql(table) : kind === 'delete' ? deleteSql(table) : updateSql(table, columns);
    if (!this.file.sql.changesRow(statement, ...key, ...written)) throw lacksRow(table);
  }

  /** Applies changes in which rows swap unique values: deletes all old rows before inserting the new ones. */
  private replaceRows(changes: readonly StoredChange[]): void {
    const coming = changes.flatMap(
      (change): { readonly table: MirroredTable; readonly row: readonly CellValue[] }[] => {
        const table = this.tableOf(change.table);
        if (change.kind === 'insert') return [{ table, row: change.values as CellValue[] }];
        const old = this.takeRow(table, change);
        return change.kind === 'delete'
          ? []
          : [{ table, row: change.values.map((value, i) => (value === undefined ? (old[i] ?? null) : value)) }];
      },
    );
    for (const { table, row } of coming) insertRow(this.file, table, row);
  }

  private takeRow(table: MirroredTable, { values }: StoredChange): readonly CellValue[] {
    const columns = table.columns.map(({ name }) => quoteName(name)).join(', ');
    const row = this.file.sql.get(`${deleteSql(table)} RETURNING ${columns}`, ...keyOf(table, values));
    if (row === undefined) throw lacksRow(table);
    return row;
  }

  private tableOf(name: string): MirroredTable {
    const table = this.tables.get(name);
    if (table === undefined)
      throw new Error(`a changeset names the table ${name}, which the working copy does not have`);
    return table;
  }
}

function keyOf({ columns }: MirroredTable, values: StoredChange['values']): CellValue[] {
  return columns.flatMap(({ isKey }, i) => (isKey ? [values[i] ?? null] : []));
}

function lacksRow({ name }: MirroredTable): Error {
  return new Error(`the working copy lacks a row of ${name}`);
}

/** Creates the empty file of a working copy. */
export function openCopyFile(path: string, schema: Schema, databaseId: string): DatabaseFile {
  return openDatabaseFile(path, schema, { disposable: true, toDdl: typedTableToDdl, databaseId });
}

/** Inserts a row with all its columns. */
export function insertRow({ sql }: DatabaseFile, table: MirroredTable, row: readonly CellValue[]): void {
  sql.run(insertSql(table), ...row);
}

/** Keeps a value for each table: the SQL of a commit with many rows is made once. */
function perTable<Value>(make: (table: MirroredTable) => Value): (table: MirroredTable) => Value {
  const known = new WeakMap<MirroredTable, Value>();
  return (table) => {
    const value = known.get(table) ?? make(table);
    known.set(table, value);
    return value;
  };
}

const insertSql = perTable(({ name, columns }) => {
  const names = columns.map((column) => quoteName(column.name));
  return `INSERT INTO ${quoteName(name)} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
});

const whereSql = perTable(
  ({ columns }) => `WHERE ${keyMatchSql({ primaryKey: columns.flatMap(({ name, isKey }) => (isKey ? [name] : [])) })}`,
);

const deleteSql = perTable((table) => `DELETE FROM ${quoteName(table.name)} ${whereSql(table)}`);

/**
 * The parameters of the key come first, then those of the columns at these positions. Made for each row and not kept:
 * a changeset may have a different set of columns in every row, and a map of them would grow without limit.
 */
function updateSql(table: MirroredTable, columns: readonly number[]): string {
  const first = table.columns.filter(({ isKey }) => isKey).length + 1;
  const assignments = columns.map((at, i) => `${quoteName(table.columns[at]?.name ?? '')} = ?${first + i}`);
  return `UPDATE ${quoteName(table.name)} SET ${assignments.join(', ')} ${whereSql(table)}`;
}
