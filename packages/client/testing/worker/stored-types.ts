import { quoteName } from '@rockpool/shared';
import type { Connection } from '../../src/worker/sqlite/connection.ts';

/**
 * Returns the types in which the records store a column's values. SQL's `typeof` returns the type after the column's
 * conversion. Declares the column as TEXT without converting its values, so do nothing else with the connection
 * afterwards.
 */
export function storedTypes(connection: Connection, table: string, column: string): unknown[] {
  connection.setDefensive(false);
  connection.exec('PRAGMA writable_schema = ON');
  connection.run(
    `UPDATE sqlite_schema SET sql = replace(sql, 'TEXT JSONB', 'TEXT') WHERE type = 'table' AND name = ?`,
    table,
  );
  connection.exec('PRAGMA writable_schema = RESET');
  connection.dropIdleStatements();
  return connection
    .rows(`SELECT typeof(${quoteName(column)}) FROM main.${quoteName(table)} ORDER BY rowid`)
    .map(([type]) => type);
}
