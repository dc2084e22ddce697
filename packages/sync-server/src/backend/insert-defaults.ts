import { columnSql, quoteName, type CellValue } from '@rockpool/shared';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { BackendRow } from './column-value.ts';

/**
 * The defaults that inserts store in omitted columns. SQLite evaluates them for each row in a table in memory with the
 * same columns, so they have the type that a device stores. Call `close` at the end of the transaction.
 */
export class InsertDefaults {
  private sql: SqliteFile | null = null;
  private readonly selects = new Map<StoredTable, string>();

  /** The defaults of the columns that `row` omits, by name, the key included. A column without a default is missing. */
  of(table: StoredTable, row: BackendRow): ReadonlyMap<string, CellValue> {
    // SQLite numbers the rows of an INTEGER key itself, which devices do not agree on, and ignores its default.
    const isNumbered = table.keys.length === 1 && table.keys[0]?.type === 'integer';
    const keys = isNumbered ? [] : table.keys;
    const columns = [...keys, ...table.values].filter(({ defaultSql }) => defaultSql !== null);
    if (columns.every(({ name }) => row[name] !== undefined)) return new Map();
    this.sql ??= new SqliteFile(':memory:');
    const name = quoteName(table.schema.name);
    let select = this.selects.get(table);
    if (select === undefined) {
      const declared = columns.map((column) => columnSql({ ...column, notNull: false }));
      this.sql.exec(`CREATE TABLE ${name} (rockpool_one INTEGER PRIMARY KEY, ${declared.join(', ')})`);
      select = `SELECT ${columns.map((column) => quoteName(column.name)).join(', ')} FROM ${name}`;
      this.selects.set(table, select);
    }
    this.sql.run(`REPLACE INTO ${name} (rockpool_one) VALUES (1)`);
    const stored = this.sql.get(select) ?? [];
    const defaults = columns.map((column, i) => [column.name, stored[i] ?? null] as const);
    return new Map(defaults.filter(([column]) => row[column] === undefined));
  }

  close(): void {
    this.sql?.close();
  }
}
