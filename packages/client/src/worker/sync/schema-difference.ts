import { decodeOutline, outlineDifferences, type ErrorFields, type SchemaOutline } from '@rockpool/shared';

/**
 * The fields of `schema-mismatch`, with the first difference and the number of differences instead of the server's
 * outline. `own`: the outline of the client's schema.
 */
export function mismatchFields(own: SchemaOutline, { outline, ...fields }: ErrorFields): ErrorFields {
  const server = decodeOutline(outline);
  const differences = server === null ? [] : outlineDifferences(own, server);
  const [first] = differences;
  if (first === undefined) return fields;
  const { table, column, side, problem } = first;
  return { ...fields, table, ...(column === null ? {} : { column }), side, problem, differences: differences.length };
}
