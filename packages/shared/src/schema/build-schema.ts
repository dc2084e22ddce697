import { RockpoolError } from '../errors/rockpool-error.ts';
import { schemaHash } from './identity.ts';
import type { Schema, TableSchema } from './schema.ts';
import { schemaProblems, type SchemaProblem } from './validate.ts';

/** Builds a schema from tables. Throws `schema-invalid` with every problem, one per line. */
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
