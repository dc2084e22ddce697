import {
  createTableSql,
  keyColumns,
  MAX_KEY_BYTES,
  quoteName,
  type ColumnType,
  type TableSchema,
} from '@rockpool/shared';
import { storedTableToDdl } from '../../sqlite/stored-table.ts';

/** Names of the CHECKs below, which merge/constraint-error.ts recognizes. */
export const TYPE_CHECK_PREFIX = 'rockpool_type_';
export const KEY_SIZE_CHECK = 'rockpool_key_size';

const TYPE_NAMES: Readonly<Record<ColumnType, string>> = {
  text: `'text'`,
  integer: `'integer'`,
  real: `'real'`,
  blob: `'blob'`,
  numeric: `'integer', 'real'`,
};

/**
 * Returns the DDL of a table in a working copy. SQLite lets any column hold any type and PostgreSQL does not, so CHECKs
 * make SQLite reject what PostgreSQL could not store. The decision is then made in one place.
 */
export function typedTableToDdl(table: TableSchema, isSystem: boolean): string[] {
  if (isSystem) return storedTableToDdl(table);
  const [, ...indexes] = storedTableToDdl(table);
  return [createTableSql({ ...table, checks: [...table.checks, ...typeChecks(table)] }), ...indexes];
}

/** The CHECKs of a table. `problem` describes a violation. */
export function typeChecks(
  table: TableSchema,
): { readonly name: string; readonly sql: string; readonly problem: string }[] {
  const types = table.columns
    .filter(({ generated }) => generated === null)
    .map(({ name, type }) => ({
      name: `${TYPE_CHECK_PREFIX}${name}`,
      sql: `typeof(${quoteName(name)}) IN (${TYPE_NAMES[type]}, 'null')`,
      problem: `${name} has values that are not ${type}`,
    }));
  const sizes = keyColumns(table).map(({ name }) => `octet_length(${quoteName(name)})`);
  return [
    ...types,
    {
      name: KEY_SIZE_CHECK,
      sql: `${sizes.join(' + ')} <= ${MAX_KEY_BYTES}`,
      problem: `keys are longer than ${MAX_KEY_BYTES} bytes`,
    },
  ];
}
