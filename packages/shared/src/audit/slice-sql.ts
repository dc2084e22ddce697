import { quoteName } from '../schema/ddl.ts';
import { keyColumns, valueColumns, type TableSchema } from '../schema/schema.ts';
import { auditedColumnIds } from './table-fingerprint.ts';

/**
 * Rows read at once: about a millisecond, so that neither a page's worker nor a server's other sessions wait for an
 * audit.
 */
export const AUDIT_SLICE_ROWS = 500;

/**
 * The next rows of a table in the order of its key: the key's parts, then the values in the order of
 * `auditedColumnIds`. Parameters: none for the first slice, else the key of the last row of the one before.
 */
export function auditSliceSql(table: TableSchema, isFirst: boolean): string {
  const keys = keyColumns(table).map(({ name }) => quoteName(name));
  const nameOf = new Map(valueColumns(table).map(({ id, name }) => [id, quoteName(name)]));
  const columns = [...keys, ...auditedColumnIds(table).map((id) => nameOf.get(id) as string)];
  const after = isFirst ? '' : ` WHERE (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
  return `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)}${after} ORDER BY ${keys.join(', ')} LIMIT ${AUDIT_SLICE_ROWS}`;
}
