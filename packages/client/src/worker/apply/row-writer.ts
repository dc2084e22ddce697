import {
  documentColumns,
  policiesOf,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { DocumentTable } from '../documents/document-table.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Statement } from '../sqlite/statement.ts';
import { rowSqlOf, type RowSql } from './row-sql.ts';
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
  private readonly sql: RowSql;
  private readonly statements: Map<string, Statement> = new Map();

  constructor(connection: Connection, table: TableSchema) {
    this.connection = connection;
    this.table = table;
    this.sql = rowSqlOf(table);
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
  }

  hasColumn(columnId: number): boolean {
    return this.sql.hasColumn(columnId);
  }

  read(key: readonly CellValue[]): RowState {
    const statement = this.statement(this.sql.read);
    bind(statement, key, 0);
    try {
      if (!statement.step()) return NO_ROW;
      const values = new Map(this.sql.valueIds.map((id, index) => [id, statement.readCell(index)]));
      return { exists: true, values: this.documentTable?.withStates(key, values) ?? values };
    } finally {
      statement.reset();
    }
  }

  /** Inserts the row or overwrites it. A new row gets the defaults of omitted columns. */
  put(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): void {
    this.runPut(this.statement(this.sql.put(columnIds)), key, this.toColumns(key, columnIds, values));
  }

  /** Updates some columns of a row. Does nothing if the row does not exist. */
  patch(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): void {
    if (columnIds.length === 0) return;
    const statement = this.statement(this.sql.patch(columnIds));
    bind(statement, this.toColumns(key, columnIds, values), 0);
    bind(statement, key, values.length);
    run(statement);
  }

  remove(key: readonly CellValue[]): void {
    const statement = this.statement(this.sql.remove);
    bind(statement, key, 0);
    run(statement);
    this.documentTable?.remove(key);
  }

  /** Writes all rows of a group directly from its columns. */
  writeGroup(group: ChangeGroup): void {
    const { keys, values, rowCount, columnIds, kind } = group;
    if (kind === 'update' && columnIds.length === 0) return;
    if (this.documentTable !== null) return this.writeRowByRow(group, this.documentTable);
    const statement =
      kind === 'insert'
        ? this.statement(this.sql.put(columnIds))
        : kind === 'update'
          ? this.statement(this.sql.patch(columnIds))
          : this.statement(this.sql.remove);
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
    const statement = this.statement(this.sql.readColumn(columnId));
    bind(statement, key, 0);
    try {
      return statement.step() ? statement.readCell(0) : null;
    } finally {
      statement.reset();
    }
  }

  /** Registers the documents of a row that this writer does not write, so that `finish` deletes their unused bases. */
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

  /** Throws if the last put wrote nothing because SQLite considers the key of an existing row equal. */
  private requireWritten(): void {
    if (this.sql.hasLooseKey && this.connection.changes === 0)
      throw new RockpoolError('constraint-primary-key', { table: this.table.name });
  }

  private statement(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.connection.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

function bind(statement: Statement, cells: readonly CellValue[], offset: number): void {
  for (let i = 0; i < cells.length; i++) statement.bindCell(offset + i + 1, cells[i] as CellValue);
}

function run(statement: Statement): void {
  statement.step();
  statement.reset();
}
