import { keyMatchSql, quoteName, RockpoolError, toRockpoolError, type ColumnSchema } from '@rockpool/shared';
import type { Transaction } from '../interface/writes.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlValue } from '../rpc/sql-value.ts';
import { newId } from '../new-id.ts';
import type { PlannedRow } from './plan-merge.ts';
import { sameValue } from './row-image.ts';

/** Statements in flight at a time, enough to keep the worker busy. */
const IN_FLIGHT = 500;

/**
 * A statement that fails with one of these codes may succeed after another statement has freed the value, or inserted
 * the row, that it needs.
 */
const MAY_DEPEND: ReadonlySet<string> = new Set([
  'constraint-unique',
  'constraint-primary-key',
  'constraint-foreign-key',
  'constraint-trigger',
]);

/**
 * Writes planned rows in a transaction of the origin. Deletes run last, so that a cascade does not remove rows that the
 * branch moved elsewhere. A statement that collides with a value that a later statement replaces runs again after that
 * one. Rows that exchange unique values release them temporarily. Throws the error of the first statement that cannot
 * run.
 */
export async function writeMerge(tx: Transaction, rows: readonly PlannedRow[]): Promise<void> {
  // Parents and children may come in any order; the commit checks them.
  await tx.execute('PRAGMA defer_foreign_keys = ON');
  const kept = rows.filter(({ merged }) => merged !== null);
  const deleted = rows.filter(({ merged }) => merged === null);
  let waiting = [...kept, ...deleted];
  const withoutUniques = new Set<PlannedRow>();
  while (waiting.length > 0) {
    const failed: { readonly row: PlannedRow; readonly error: RockpoolError }[] = [];
    for (let at = 0; at < waiting.length; at += IN_FLIGHT) {
      const chunk = waiting.slice(at, at + IN_FLIGHT);
      const outcomes = await Promise.all(chunk.map((row) => tryStatement(tx, statementOf(row))));
      for (const [index, error] of outcomes.entries())
        if (error !== null) failed.push({ row: chunk[index] as PlannedRow, error });
    }
    const [first] = failed;
    if (failed.length === waiting.length && first !== undefined && !(await giveUpUniques(tx, waiting, withoutUniques)))
      throw first.error;
    waiting = failed.map(({ row }) => row);
  }
}

/**
 * Makes one of the waiting rows release the unique values that it will change: placeholders replace them, so that other
 * rows can take the values. Returns false if no row can release any.
 */
async function giveUpUniques(tx: Transaction, waiting: readonly PlannedRow[], done: Set<PlannedRow>): Promise<boolean> {
  for (const row of waiting) {
    const statement = done.has(row) ? null : withoutUniqueValues(row);
    done.add(row);
    if (statement === null) continue;
    try {
      await tx.execute(statement);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError) || !thrown.code.startsWith('constraint-')) throw thrown;
    }
  }
  return false;
}

/** Returns the statement that replaces the changing unique values of a row with placeholders; null if none change. */
function withoutUniqueValues(row: PlannedRow): SqlStatement | null {
  const { table, key, theirs, merged } = row;
  if (theirs === null || merged === null) return null;
  const { uniques, indexes, columns } = table;
  const unique = new Set(
    [...uniques, ...indexes.filter((index) => index.unique).map(({ expressions }) => expressions)].flat(),
  );
  const given = columns.filter(
    ({ name }) =>
      (unique.has(name) || unique.has(quoteName(name))) &&
      merged.has(name) &&
      !sameValue(merged.get(name) ?? null, theirs.get(name) ?? null),
  );
  if (given.length === 0) return null;
  const sets = given.map(({ name }) => `${quoteName(name)} = ?`).join(', ');
  return {
    sql: `UPDATE ${quoteName(table.name)} SET ${sets} WHERE ${keyMatchSql(table, { first: given.length + 1 })}`,
    params: [...given.map(placeholder), ...key],
  };
}

/** A value that no other row has. */
function placeholder({ notNull, type }: ColumnSchema): SqlValue {
  if (!notNull) return null;
  return type === 'text'
    ? newId()
    : type === 'blob'
      ? new TextEncoder().encode(newId())
      : -Math.floor(Math.random() * 2 ** 52);
}

/** Resolves with an error that may be transient; rejects with any other. */
async function tryStatement(tx: Transaction, statement: SqlStatement): Promise<RockpoolError | null> {
  try {
    await tx.execute(statement);
    return null;
  } catch (thrown) {
    const error = toRockpoolError(thrown);
    if (MAY_DEPEND.has(error.code)) return error;
    throw thrown;
  }
}

function statementOf({ table, key, theirs, merged }: PlannedRow): SqlStatement {
  const name = quoteName(table.name);
  if (merged === null) return { sql: `DELETE FROM ${name} WHERE ${keyMatchSql(table)}`, params: key };
  if (theirs === null) {
    const columns = [...table.primaryKey, ...merged.keys()];
    return {
      sql: `INSERT INTO ${name} (${columns.map(quoteName).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      params: [...key, ...merged.values()],
    };
  }
  const changed = [...merged].filter(([column, value]) => !sameValue(value, theirs.get(column) ?? null));
  const sets = changed.map(([column]) => `${quoteName(column)} = ?`).join(', ');
  return {
    sql: `UPDATE ${name} SET ${sets} WHERE ${keyMatchSql(table, { first: changed.length + 1 })}`,
    params: [...changed.map(([, value]): SqlValue => value), ...key],
  };
}
