import {
  documentColumns,
  keyColumns,
  keyMatchSql,
  policiesOf,
  quoteName,
  RockpoolError,
  valueColumns,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { DocumentTable } from '../documents/document-table.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Statement } from '../sqlite/statement.ts';
import { NO_ROW, type ColumnRules, type RowState } from './row-state.ts';

/**
 * Reads and writes the rows of one table by exact values, and documents as their states. Use one per delivery, then
 * `release` it.
 */
export class RowWriter {
  readonly table: TableSchema;
  readonly columns: ColumnRules;
  /** Null for a table without documents. */
  private readonly documentTable: DocumentTable | null;
  private readonly connection: Connection;
  private readonly valueIds: readonly number[];
  private readonly nameOfId: ReadonlyMap<number, string>;
  private readonly keyNames: readonly string[];
  /**
   * Whether SQLite may take two different keys for equal: a column without affinity stores both `1` and `1.0`, which
   * compare as equal.
   */
  private readonly hasLooseKey: boolean;
  private readonly statements: Map<string, Statement> = new Map();

  constructor(connection: Connection, table: TableSchema) {
    this.connection = connection;
    this.table = table;
    const documents = documentColumns(table);
    this.documentTable =
      documents.size === 0 ? null : new (documentSupport().DocumentTable)(connection, table.id, documents);
    const readBase = this.documentTable?.readBase;
    const policies = policiesOf(table);
    this.columns = {
      documents,
      readBase,
      policies: documents.size === 0 ? policies : documentSupport().bindToStates(policies, { documents, readBase }),
    };
    const columns = valueColumns(table);
    this.valueIds = columns.map(({ id }) => id);
    this.nameOfId = new Map(columns.map(({ id, name }) => [id, quoteName(name)]));
    this.keyNames = keyColumns(table).map(({ name }) => quoteName(name));
    this.hasLooseKey = keyColumns(table).some(({ type }) => type === 'blob');
  }

  hasColumn(columnId: number): boolean {
    return this.nameOfId.has(columnId);
  }

  read(key: readonly CellValue[]): RowState {
    const columns = this.valueIds.length === 0 ? '1' : this.valueIds.map((id) => this.nameOf(id)).join(', ');
    const statement = this.statement(`SELECT ${columns} FROM ${this.from()} WHERE ${keyMatchSql(this.table)}`);
    bind(statement, key, 0);
    try {
      if (!statement.step()) return NO_ROW;
      const values = new Map(this.valueIds.map((id, index) => [id, statement.readCell(index)]));
      return { exists: true, values: this.documentTable?.withStates(key, values) ?? values };
    } finally {
      statement.reset();
    }
  }

  /** Inserts the row or overwrites it. A new row gets the defaults of omitted columns. */
  put(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): void {
    this.runPut(this.putStatement(columnIds), key, this.toColumns(key, columnIds, values));
  }

  /** Updates some columns of a row. Does nothing if the row does not exist. */
  patch(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): void {
    if (columnIds.length === 0) return;
    const statement = this.patchStatement(columnIds);
    bind(statement, this.toColumns(key, columnIds, values), 0);
    bind(statement, key, values.length);
    run(statement);
  }

  remove(key: readonly CellValue[]): void {
    const statement = this.statement(`DELETE FROM ${this.from()} WHERE ${keyMatchSql(this.table)}`);
    bind(statement, key, 0);
    run(statement);
    this.documentTable?.remove(key);
  }

  /** Writes all rows of a group straight from its columns. */
  writeGroup(group: ChangeGroup): void {
    const { keys, values, rowCount, columnIds, kind } = group;
    if (kind === 'update' && columnIds.length === 0) return;
    if (this.documentTable !== null) return this.writeRowByRow(group, this.documentTable);
    const statement =
      kind === 'insert'
        ? this.putStatement(columnIds)
        : kind === 'update'
          ? this.patchStatement(columnIds)
          : this.statement(`DELETE FROM ${this.from()} WHERE ${keyMatchSql(this.table)}`);
    const [first, second] = kind === 'update' ? [values, keys] : [keys, values];
    for (let row = 0; row < rowCount; row++) {
      let parameter = 0;
      for (const column of first) statement.bindCell(++parameter, column[row] as CellValue);
      for (const column of second) statement.bindCell(++parameter, column[row] as CellValue);
      run(statement);
      if (kind === 'insert') this.requireWritten();
    }
  }

  private writeRowByRow({ keys, values, rowCount, columnIds, kind }: ChangeGroup, documentTable: DocumentTable): void {
    const { byColumn } = this.columns.policies;
    for (let row = 0; row < rowCount; row++) {
      const key = keys.map((part) => part[row] as CellValue);
      const cells = columnIds.map((columnId, index) => {
        const value = values[index]?.[row] ?? null;
        const delivered = byColumn.get(columnId)?.rebase?.delivered;
        return delivered === undefined
          ? value
          : delivered(
              documentTable.read(key, columnId, () => this.text(key, columnId)),
              value,
            );
      });
      if (kind === 'delete') this.remove(key);
      else if (kind === 'insert') this.put(key, columnIds, cells);
      else this.patch(key, columnIds, cells);
    }
  }

  /** Converts values to what the app's table stores, and stores document states beside it. */
  private toColumns(
    key: readonly CellValue[],
    columnIds: readonly number[],
    values: readonly CellValue[],
  ): readonly CellValue[] {
    return this.documentTable?.store(key, columnIds, values) ?? values;
  }

  private text(key: readonly CellValue[], columnId: number): CellValue {
    const statement = this.statement(
      `SELECT ${this.nameOf(columnId)} FROM ${this.from()} WHERE ${keyMatchSql(this.table)}`,
    );
    bind(statement, key, 0);
    try {
      return statement.step() ? statement.readCell(0) : null;
    } finally {
      statement.reset();
    }
  }

  /** Has `finish` clean up after the documents of a row that is not written here. */
  scheduleCleanup(key: readonly CellValue[]): void {
    this.documentTable?.scheduleCleanup(key);
  }

  /** Call after the last write: deletes document bases that are no longer used. */
  finish(): void {
    this.documentTable?.finish();
  }

  release(): void {
    for (const statement of this.statements.values()) statement.release();
    this.statements.clear();
  }

  private runPut(statement: Statement, key: readonly CellValue[], values: readonly CellValue[]): void {
    bind(statement, key, 0);
    bind(statement, values, key.length);
    run(statement);
    this.requireWritten();
  }

  /** Throws if the last put wrote nothing, because SQLite takes another row's key for the same. */
  private requireWritten(): void {
    if (this.hasLooseKey && this.connection.changes === 0)
      throw new RockpoolError('constraint-primary-key', { table: this.table.name });
  }

  private putStatement(columnIds: readonly number[]): Statement {
    const columns = columnIds.map((id) => this.nameOf(id));
    const all = [...this.keyNames, ...columns];
    const where = this.hasLooseKey
      ? ` WHERE ${this.keyNames.map((name) => `typeof(${this.from()}.${name}) = typeof(excluded.${name})`).join(' AND ')}`
      : '';
    const assigned = columns.length === 0 && this.hasLooseKey ? this.keyNames.slice(0, 1) : columns;
    const onConflict =
      assigned.length === 0
        ? 'DO NOTHING'
        : `DO UPDATE SET ${assigned.map((name) => `${name} = excluded.${name}`).join(', ')}${where}`;
    const places = all.map(() => '?').join(', ');
    return this.statement(
      `INSERT INTO ${this.from()} (${all.join(', ')}) VALUES (${places}) ON CONFLICT (${this.keyNames.join(', ')}) ${onConflict}`,
    );
  }

  private patchStatement(columnIds: readonly number[]): Statement {
    const assignments = columnIds.map((id) => `${this.nameOf(id)} = ?`).join(', ');
    return this.statement(
      `UPDATE ${this.from()} SET ${assignments} WHERE ${keyMatchSql(this.table, { first: columnIds.length + 1 })}`,
    );
  }

  private statement(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.connection.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }

  private from(): string {
    return quoteName(this.table.name);
  }

  private nameOf(columnId: number): string {
    const name = this.nameOfId.get(columnId);
    if (name === undefined) throw new Error(`table ${this.table.name} has no column with id ${columnId}`);
    return name;
  }
}

function bind(statement: Statement, cells: readonly CellValue[], offset: number): void {
  for (let i = 0; i < cells.length; i++) statement.bindCell(offset + i + 1, cells[i] as CellValue);
}

function run(statement: Statement): void {
  statement.step();
  statement.reset();
}
