import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';

/** Inlines the values into the text. Drizzle's own inlining writes blobs as text and rejects bigints. */
class LiteralDialect extends SQLiteSyncDialect {
  unstorableCount = 0;

  // An arrow function, because Drizzle detaches the method from its object. It passes the value as a second argument.
  override escapeParam = (_index: number, value?: unknown): string => {
    const literal = valueToLiteral(value);
    if (literal === null) this.unstorableCount++;
    return literal ?? 'NULL';
  };
}

/**
 * Returns an SQL expression of a table declaration as text with inlined values; null if it holds a value that SQLite
 * does not store. Column names are written without their table, because index expressions and generated columns may not
 * contain `table.column`.
 */
export function sqlToText(expression: SQL): string | null {
  const dialect = new LiteralDialect();
  const { sql } = dialect.sqlToQuery(expression, 'indexes');
  return dialect.unstorableCount === 0 ? sql : null;
}

/** Returns a value as an SQL literal; null for a value that SQLite does not store. */
export function valueToLiteral(value: unknown): string | null {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return value.includes('\u0000') ? null : `'${value.replaceAll("'", "''")}'`;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return numberToLiteral(value);
  if (value instanceof Uint8Array)
    return `x'${Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')}'`;
  return null;
}

function numberToLiteral(value: number): string | null {
  if (!Number.isFinite(value)) return null;
  if (Object.is(value, -0)) return '-0.0';
  // As with parameters: a safe integer is INTEGER, everything else REAL.
  const text = value.toString();
  return Number.isSafeInteger(value) || /[.e]/.test(text) ? text : `${text}.0`;
}
