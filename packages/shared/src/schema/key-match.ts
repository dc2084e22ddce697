import { quoteName } from './ddl.ts';
import type { TableSchema } from './schema.ts';

/**
 * SQL that is true of the one row with this key, by type and bytes. A key column that has no affinity (BLOB) can hold
 * what `=` takes for the same though it is not: `1` is not `1.0`; and a column with an affinity would convert a value
 * that is not of its type before comparing it.
 *
 * Parameters: the key's parts in key order, the first of them number `first`; those before it are written as `?`.
 */
export function keyMatchSql(
  { primaryKey }: Pick<TableSchema, 'primaryKey'>,
  { first = 1, alias = '' }: { readonly first?: number; readonly alias?: string } = {},
): string {
  const prefix = alias === '' ? '' : `${alias}.`;
  return primaryKey
    .map((name, part) => {
      const column = `${prefix}${quoteName(name)}`;
      const given = `?${first + part}`;
      return `${column} = ${given} AND typeof(${column}) = typeof(${given})`;
    })
    .join(' AND ');
}
