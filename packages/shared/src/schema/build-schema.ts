import { RockpoolError } from '../errors/rockpool-error.ts';
import { schemaHash } from './identity.ts';
import type { Schema, TableSchema } from './schema.ts';
import { schemaProblems, type SchemaProblem } from './validate.ts';

/** Checks tables and puts them together. Throws `schema-invalid` with every problem, one a line. */
export function buildSchema(tables: readonly TableSchema[]): Schema {
  const problems = schemaProblems(tables);
  if (problems.length > 0) {
    throw new RockpoolError('schema-invalid', {
      count: problems.length,
      problems: problems.map(problemToText).join('\n'),
    });
  }
  const sorted = [...tables].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { tables: sorted, hash: schemaHash(sorted) };
}

function problemToText({ table, column, problem }: SchemaProblem): string {
  return `${table}${column === null ? '' : `.${column}`}: ${problem}`;
}
