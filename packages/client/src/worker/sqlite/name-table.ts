import { RockpoolError } from '@rockpool/shared';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';

/** The part of a connection that finds the table of a constraint. */
export interface ConstraintReader {
  rows(sql: string, ...params: readonly SqlParam[]): SqlValue[][];
  value(sql: string, ...params: readonly SqlParam[]): SqlValue | undefined;
}

/**
 * Adds the table to a constraint error whose message names none: that of a unique index, a CHECK, a foreign key, or a
 * key of the wrong type. `written` are the tables that the statement writes. If there are several, only those that
 * define the constraint count. Returns the error unchanged unless exactly one table qualifies.
 */
export function nameTable(
  connection: ConstraintReader,
  error: RockpoolError,
  written: ReadonlySet<string>,
): RockpoolError {
  if (
    !error.code.startsWith('constraint-') ||
    error.code === 'constraint-trigger' ||
    error.fields['table'] !== undefined
  )
    return error;
  const constraint = error.fields['constraint'];
  const index = typeof constraint === 'string' ? /^index '(.*)'$/s.exec(constraint)?.[1] : undefined;
  const tables =
    index === undefined
      ? tablesWith(connection, written, typeof constraint === 'string' ? constraint : '')
      : tableOfIndex(connection, index);
  const [table, ...others] = tables;
  return table === undefined || others.length > 0
    ? error
    : new RockpoolError(error.code, { table, ...error.fields }, { cause: error.cause });
}

/**
 * Returns the table with a row that breaks a foreign key, and the table that it refers to. Call it while the
 * transaction is still open. Reads all tables with foreign keys.
 */
export function brokenForeignKey(
  connection: ConstraintReader,
): { readonly table: string; readonly foreignTable: string } | null {
  const [row] = connection.rows('SELECT "table", parent FROM pragma_foreign_key_check LIMIT 1');
  return row === undefined ? null : { table: String(row[0]), foreignTable: String(row[1]) };
}

function tableOfIndex(connection: ConstraintReader, index: string): string[] {
  return connection
    .rows(`SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?`, index)
    .map(([table]) => String(table));
}

function tablesWith(connection: ConstraintReader, written: ReadonlySet<string>, constraint: string): string[] {
  const tables = [...written].filter((name) => !name.startsWith('sqlite_') && !name.startsWith('rockpool_'));
  if (tables.length <= 1 || constraint === '') return tables;
  return tables.filter(
    (name) =>
      connection.value(
        `SELECT instr(sql, ?) FROM sqlite_schema WHERE type = 'table' AND name = ?`,
        constraint,
        name,
      ) !== 0,
  );
}
