import { RockpoolError, schemaProblems, type SchemaProblem, type TableSchema } from '@rockpool/shared';

/** A part of the declaration that a schema cannot express. */
export type DeclarationProblem = SchemaProblem;

/** Throws `schema-invalid` with these problems and those of the tables, one per line. */
export function throwProblems(problems: readonly DeclarationProblem[], tables: readonly TableSchema[]): never {
  const all = [...problems, ...schemaProblems(tables)];
  const lines = all.map(({ table, column, problem }) => `${table}${column === null ? '' : `.${column}`}: ${problem}`);
  throw new RockpoolError('schema-invalid', { count: lines.length, problems: lines.join('\n') });
}
