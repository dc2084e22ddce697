import { keyMatchSql, quoteName, type CellValue, type Schema } from '@rockpool/shared';
import { openDatabaseFile, type DatabaseFile } from '../database-file.ts';
import { resyncFile } from '../durability.ts';
import type { MirroredTable } from './mirrored-table.ts';
import { readStoredChanges, type StoredChange } from './stored-change.ts';
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
    if (!this.file.sql.apply(changeset))
      this.file.sql.transaction(() => this.replaceRows(readStoredChanges(changeset)));
    this.current = position;
    resyncFile(this.file);
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
    const keys = table.columns.flatMap(({ name, isKey }, i) => (isKey ? [{ name, value: values[i] ?? null }] : []));
    const where = keyMatchSql({ primaryKey: keys.map(({ name }) => name) });
    const columns = table.columns.map(({ name }) => quoteName(name)).join(', ');
    const row = this.file.sql.get(
      `DELETE FROM ${quoteName(table.name)} WHERE ${where} RETURNING ${columns}`,
      ...keys.map(({ value }) => value),
    );
    if (row === undefined) throw new Error(`the working copy lacks a row of ${table.name}`);
    return row;
  }

  private tableOf(name: string): MirroredTable {
    const table = this.tables.get(name);
    if (table === undefined)
      throw new Error(`a changeset names the table ${name}, which the working copy does not have`);
    return table;
  }
}

/** Creates the empty file of a working copy. */
export function openCopyFile(path: string, schema: Schema, databaseId: string): DatabaseFile {
  return openDatabaseFile(path, schema, { disposable: true, toDdl: typedTableToDdl, databaseId });
}

/** Inserts a row with all its columns. */
export function insertRow({ sql }: DatabaseFile, { name, columns }: MirroredTable, row: readonly CellValue[]): void {
  sql.run(
    `INSERT INTO ${quoteName(name)} (${columns.map((column) => quoteName(column.name)).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...row,
  );
}
