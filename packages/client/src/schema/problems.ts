import { RockpoolError, schemaProblems, type SchemaProblem, type TableSchema } from '@rockpool/shared';

/** Something that the declaration says and a schema cannot express. */
export type DeclarationProblem = SchemaProblem;

/** Throws `schema-invalid` with these problems and those of the tables themselves, one a line. */
export function throwProblems(problems: readonly DeclarationProblem[], tables: readonly TableSchema[]): never {
  const all = [...problems, ...schemaProblems(tables)];
  const lines = all.map(({ table, column, problem }) => `${table}${column === null ? '' : `.${column}`}: ${problem}`);
  throw new RockpoolError('schema-invalid', { count: lines.length, problems: lines.join('\n') });
}
