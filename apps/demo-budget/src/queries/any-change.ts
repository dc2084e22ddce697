import { schema } from '../schema.ts';

const oneRowOfEach = schema.tables.map(({ name, columns }) => {
  const everything = columns.map((column) => `"${column.name}"`).join(' || ');
  return `(SELECT ${everything} FROM "${name}" LIMIT 1) IS NULL`;
});

/**
 * For a live query whose result differs after every change of the budget: it returns a random number, and depends on
 * all columns of all tables, even though it reads only one row of each. No parameters.
 */
export const anyChange = `
  SELECT random() AS version, ${oneRowOfEach.join(', ')}`;
