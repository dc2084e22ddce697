import type { Connection } from '../sqlite/connection.ts';

const VIEWS_SQL = `SELECT group_concat(sql) FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM temp.sqlite_schema) GROUP BY name HAVING max(type) = 'view'`;

/** The SQL of the views, and of TEMP tables that hide one. */
export function viewDefinitions(connection: Connection): string {
  return String(connection.rows(VIEWS_SQL));
}
