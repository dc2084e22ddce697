import { quoteName } from './ddl.ts';
import type { TableSchema } from './schema.ts';

/**
 * SQL that is true for the one row with this key, compared by type and bytes. A key column without affinity (BLOB) can
 * hold values that `=` does not distinguish, such as `1` and `1.0`; and a column with an affinity would convert a value
 * of a different type before comparing.
 *
 * Parameters: the parts of the key in key order, the first of them number `first`; earlier ones are written as `?`.
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
