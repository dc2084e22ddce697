import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlParam } from '../rpc/sql-value.ts';

/**
 * Tags a statement whose `${…}` values are bound as parameters, never inserted into the text.
 * Only values go into `${…}`: a table or column name cannot be a parameter in SQL.
 *
 * ```ts
 * await client.execute(sql`UPDATE todo SET done = ${true} WHERE id = ${id}`);
 * ```
 */
export function sql(texts: TemplateStringsArray, ...params: SqlParam[]): SqlStatement {
  return { sql: texts.join('?'), params };
}

/**
 * Normalises the two call forms of the API. Copies the values, because they reach the worker later, and the caller may
 * reuse its array and byte buffers meanwhile.
 */
export function toStatement(statement: SqlStatement | string, params: readonly SqlParam[] = []): SqlStatement {
  const given = typeof statement === 'string' ? { sql: statement, params } : statement;
  return { sql: given.sql, params: given.params.map(copyOf) };
}

function copyOf(param: SqlParam): SqlParam {
  return param instanceof Uint8Array ? new Uint8Array(param) : param;
}

/** Returns a text that is equal only for the same statement with the same values. */
export function statementKey(statement: SqlStatement): string {
  return [statement.sql, ...statement.params.map(paramKey)].join('\u0000');
}

function paramKey(param: SqlParam): string {
  if (param instanceof Uint8Array) return `blob:${param.join(',')}`;
  // -0 is bound as REAL, 0 as INTEGER.
  if (Object.is(param, -0)) return 'number:-0';
  // A text may contain the separator, so its length marks its end.
  if (typeof param === 'string') return `text:${param.length}:${param}`;
  return `${typeof param}:${String(param)}`;
}
