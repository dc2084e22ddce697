import { quoteName } from '../schema/ddl.ts';
import { keyColumns, valueColumns, type TableSchema } from '../schema/schema.ts';
import { auditedColumnIds } from './table-fingerprint.ts';

/**
 * The maximum number of rows per slice. A slice takes about a millisecond, so that an audit delays neither the page's
 * worker nor the server's other sessions.
 */
export const AUDIT_SLICE_ROWS = 500;

/**
 * SQL for the next slice of a table in key order: the parts of the key, then the values in the order of
 * `auditedColumnIds`. Parameters: none for the first slice, else the key of the last row of the previous slice.
 */
export function auditSliceSql(table: TableSchema, isFirst: boolean): string {
  const keys = keyColumns(table).map(({ name }) => quoteName(name));
  const nameOf = new Map(valueColumns(table).map(({ id, name }) => [id, quoteName(name)]));
  const columns = [...keys, ...auditedColumnIds(table).map((id) => nameOf.get(id) as string)];
  const after = isFirst ? '' : ` WHERE (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
  return `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)}${after} ORDER BY ${keys.join(', ')} LIMIT ${AUDIT_SLICE_ROWS}`;
}
