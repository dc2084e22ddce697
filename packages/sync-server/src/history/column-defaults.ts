import { columnSql, quoteName, type CellValue } from '@rockpool/shared';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

const defaultsByTable = new WeakMap<StoredTable, ReadonlyMap<number, CellValue>>();

/**
 * The default of each value column, by column id: the value that SQLite stores if an insert omits the column, and that
 * a migration gives to existing rows. A column that an insert must include has none.
 */
export function columnDefaults(table: StoredTable): ReadonlyMap<number, CellValue> {
  const known = defaultsByTable.get(table);
  if (known !== undefined) return known;
  const columns = table.values.filter(({ notNull, defaultSql }) => !notNull || defaultSql !== null);
  const sql = new SqliteFile(':memory:');
  try {
    sql.exec(`CREATE TABLE one (rockpool_one, ${columns.map((column) => columnSql(column)).join(', ')});
      INSERT INTO one (rockpool_one) VALUES (1)`);
    const row = sql.get(`SELECT ${columns.map(({ name }) => quoteName(name)).join(', ')} FROM one`) ?? [];
    const defaults = new Map(columns.map(({ id }, i) => [id, row[i] ?? null]));
    defaultsByTable.set(table, defaults);
    return defaults;
  } finally {
    sql.close();
  }
}
