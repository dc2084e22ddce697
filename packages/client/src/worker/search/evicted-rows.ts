import { quoteName, type TableSchema } from '@rockpool/shared';

/** For each uniqueness rule of a table, an SQL condition for the rows, called `evicted`, that conflict with `new`. */
export function evictionConditions(schema: TableSchema): string[] {
  const byColumns = [schema.primaryKey, ...schema.uniques]
    .filter((names) => names.length > 0)
    .map((names) => `(${names.map((name) => `evicted.${quoteName(name)} = new.${quoteName(name)}`).join(' AND ')})`);
  // An index may have expressions, which are computed over `new` as if it were a row of the table.
  const asRow = schema.columns.map(({ name }) => `new.${quoteName(name)} AS ${quoteName(name)}`).join(', ');
  const byIndexes = schema.indexes
    .filter(({ unique }) => unique)
    .map(({ expressions }) => {
      const equal = expressions
        .map((expression) => expression.replace(/\s+(ASC|DESC)\s*$/i, ''))
        .map((expression) => `(${expression}) = (SELECT ${expression} FROM (SELECT ${asRow}))`);
      return `(${equal.join(' AND ')})`;
    });
  return [...byColumns, ...byIndexes];
}

/**
 * An update can evict a row only if it assigns one of these columns. Null stands for any column, because of expressions
 * or generated columns.
 */
export function evictionColumns(schema: TableSchema): readonly string[] | null {
  if (schema.indexes.some(({ unique }) => unique) || schema.columns.some(({ generated }) => generated !== null))
    return null;
  return [...new Set([...schema.primaryKey, ...schema.uniques.flat()])];
}
