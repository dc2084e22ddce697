import { decodeOutline, outlineDifferences, outlineOf, type ErrorFields, type Schema } from '@rockpool/shared';

/** The fields of `schema-mismatch`: the first difference and their number, instead of the server's whole outline. */
export function mismatchFields(schema: Schema, { outline, ...fields }: ErrorFields): ErrorFields {
  const server = decodeOutline(outline);
  const differences = server === null ? [] : outlineDifferences(outlineOf(schema), server);
  const [first] = differences;
  if (first === undefined) return fields;
  const { table, column, side, problem } = first;
  return { ...fields, table, ...(column === null ? {} : { column }), side, problem, differences: differences.length };
}
