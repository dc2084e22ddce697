import {
  encodeKey,
  foreignKeyRule,
  keyMatchSql,
  quoteName,
  RockpoolError,
  type CellValue,
  type ForeignKeyRule,
  type ForeignKeySchema,
} from '@rockpool/shared';
import type { RowWrite } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readColumnValues, type KnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { isUnchanged, type MergedRow } from './merged-row.ts';

/** The statements that check one foreign key, from the child and from the parent. */
export interface ForeignKeyCheck {
  readonly child: StoredTable;
  readonly parent: StoredTable;
  readonly key: ForeignKeySchema;
  readonly rule: ForeignKeyRule;
  /** Parameters: the child's key. Returns a row if the parent is missing. */
  readonly missingParentSql: string;
  /** Parameters: the values of the referenced columns. Returns a row if a child has them and no parent does. */
  readonly orphanSql: string;
  /** Like orphanSql, but returns the keys of such children. The last parameter limits their number. */
  readonly orphanKeysSql: string;
}

export interface ForeignKeyChecks {
  readonly byChild: ReadonlyMap<StoredTable, readonly ForeignKeyCheck[]>;
  readonly byParent: ReadonlyMap<StoredTable, readonly ForeignKeyCheck[]>;
}

/** All open databases of a schema share its tables, and therefore also the checks. */
const checksOfTables = new WeakMap<ReadonlyMap<string, StoredTable>, ForeignKeyChecks>();

export function foreignKeyChecks(tableByName: ReadonlyMap<string, StoredTable>): ForeignKeyChecks {
  const checks = checksOfTables.get(tableByName) ?? toChecks(tableByName);
  checksOfTables.set(tableByName, checks);
  return checks;
}

function toChecks(tableByName: ReadonlyMap<string, StoredTable>): ForeignKeyChecks {
  const byChild = new Map<StoredTable, ForeignKeyCheck[]>();
  const byParent = new Map<StoredTable, ForeignKeyCheck[]>();
  for (const child of tableByName.values()) {
    for (const key of child.schema.foreignKeys) {
      const parent = tableByName.get(key.foreignTable);
      if (parent === undefined)
        throw new RockpoolError('schema-invalid', {
          count: 1,
          problems: `${child.schema.name}: a foreign key points to a missing table`,
        });
      const check = toCheck(child, parent, key);
      byChild.set(child, [...(byChild.get(child) ?? []), check]);
      byParent.set(parent, [...(byParent.get(parent) ?? []), check]);
    }
  }
  return { byChild, byParent };
}

function toCheck(child: StoredTable, parent: StoredTable, key: ForeignKeySchema): ForeignKeyCheck {
  const childColumns = key.columns.map((name) => `child.${quoteName(name)}`);
  const notNull = childColumns.map((column) => `${column} IS NOT NULL`).join(' AND ');
  const matches = key.foreignColumns
    .map((name, i) => `parent.${quoteName(name)} = ${childColumns[i] as string}`)
    .join(' AND ');
  const noParent = `NOT EXISTS (SELECT 1 FROM ${quoteName(parent.schema.name)} AS parent WHERE ${matches})`;
  const childTable = `${quoteName(child.schema.name)} AS child`;
  const from = `SELECT 1 FROM ${childTable} WHERE`;
  const keyColumns = child.keys.map(({ name }) => `child.${quoteName(name)}`).join(', ');
  const values = childColumns.map((column) => `${column} = ?`).join(' AND ');
  return {
    child,
    parent,
    key,
    rule: foreignKeyRule(child.schema, key),
    missingParentSql: `${from} ${keyMatchSql(child.schema, { alias: 'child' })} AND ${notNull} AND ${noParent} LIMIT 1`,
    orphanSql: `${from} ${values} AND ${noParent} LIMIT 1`,
    orphanKeysSql: `SELECT ${keyColumns} FROM ${childTable} WHERE ${values} AND ${noParent} LIMIT ?`,
  };
}

/**
 * Checks the foreign keys that a changeset may have broken, from both ends, after all its rows are written: the order
 * of its rows does not matter. Throws `constraint-foreign-key`.
 */
export function checkForeignKeys(file: DatabaseFile, checks: ForeignKeyChecks, rows: readonly MergedRow[]): void {
  for (const { write, before, after } of rows) {
    if (isUnchanged(before, after)) continue;
    const isThere = after?.row.deleted === null;
    for (const check of isThere ? (checks.byChild.get(write.table) ?? []) : []) {
      if (file.sql.get(check.missingParentSql, ...write.key) !== undefined) throw violation(check);
    }
    // A row that did not exist had no children to check.
    if (before === undefined || before.row.deleted !== null) continue;
    for (const check of checks.byParent.get(write.table) ?? []) {
      const values = referencedValues(check, write.table, write.key, before);
      if (values.includes(null)) continue;
      if (file.sql.get(check.orphanSql, ...values) !== undefined) throw violation(check);
    }
  }
}

/** The values of a parent that children refer to, in the order of the foreign key's columns. */
export function referencedValues(
  { key }: ForeignKeyCheck,
  table: StoredTable,
  rowKey: readonly CellValue[],
  { row }: KnownRow,
): CellValue[] {
  return key.foreignColumns.map((name) => valueOf(table, rowKey, name, (columnId) => row.cells.get(columnId)?.value));
}

/** The key of the parent that a row refers to by a foreign key to its primary key. Null if a part of it is NULL. */
export function referencedKey(
  { key, parent }: ForeignKeyCheck,
  { table, key: rowKey }: RowWrite,
  cells: ReadonlyMap<number, { readonly value: CellValue }>,
): CellValue[] | null {
  const parts = parent.keys.map(({ name }) => {
    const column = key.columns[key.foreignColumns.indexOf(name)];
    return column === undefined ? null : valueOf(table, rowKey, column, (columnId) => cells.get(columnId)?.value);
  });
  return parts.includes(null) ? null : parts;
}

/** The values by which an existing child refers to its parent, as stored, because a column may have converted them. */
export function referringValues(
  file: DatabaseFile,
  { key }: ForeignKeyCheck,
  { table, key: rowKey }: RowWrite,
): CellValue[] {
  const values = readColumnValues(file, table, rowKey);
  return key.columns.map((name) => valueOf(table, rowKey, name, (columnId) => values.get(columnId)));
}

function valueOf(
  table: StoredTable,
  key: readonly CellValue[],
  columnName: string,
  cell: (columnId: number) => CellValue | undefined,
): CellValue {
  const part = table.keys.findIndex(({ name }) => name === columnName);
  if (part >= 0) return key[part] ?? null;
  const column = table.values.find(({ name }) => name === columnName);
  return column === undefined ? null : (cell(column.id) ?? null);
}

/** A reference as bytes, equal for every child of one parent by one foreign key. `values` contains no NULL. */
export function referenceBytes({ key }: ForeignKeyCheck, values: readonly CellValue[]): Uint8Array<ArrayBuffer> {
  return encodeKey([key.foreignTable, key.foreignColumns.join(), ...values]);
}

function violation({ child, key }: ForeignKeyCheck): RockpoolError {
  return new RockpoolError('constraint-foreign-key', {
    table: child.schema.name,
    columns: key.columns.join(', '),
    foreignTable: key.foreignTable,
  });
}
