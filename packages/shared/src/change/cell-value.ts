/**
 * One value exactly as SQLite stores it: **a number is always REAL, a bigint is always INTEGER.** The client API
 * returns integers as numbers; capture, wire, merge and apply do not, because `1` and `1.0` are different bytes in a
 * column without affinity.
 */
export type CellValue = null | number | bigint | string | Uint8Array;

export function cellValuesEqual(a: CellValue, b: CellValue): boolean {
  if (a instanceof Uint8Array) {
    if (!(b instanceof Uint8Array) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  return a === b;
}

/** Returns the reason why a value can never be synced, or null. SQLite turns NaN into NULL before this check. */
export function cellValueProblem(
  value: CellValue,
): 'not-finite' | 'integer-range' | 'text-nul' | 'text-surrogate' | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'not-finite';
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? null : 'integer-range';
  if (typeof value !== 'string') return null;
  // C APIs and PostgreSQL truncate or reject text with NUL. A lone surrogate has no UTF-8 form.
  if (value.includes('\u0000')) return 'text-nul';
  return value.isWellFormed() ? null : 'text-surrogate';
}
