import { cellValueProblem, MAX_VALUE_BYTES, RockpoolError, type CellValue } from '@rockpool/shared';

/** Throws `value-invalid`, naming table and column, for a value that SQLite stores but that cannot be sent. */
export function requireSendable(value: CellValue, table: string, column: string): void {
  if (value === null || typeof value === 'bigint') return;
  const problem = cellValueProblem(value) ?? (isTooLarge(value) ? 'too-large' : null);
  if (problem === null) return;
  throw new RockpoolError(
    'value-invalid',
    problem === 'too-large' ? { problem, table, column, maxBytes: MAX_VALUE_BYTES } : { problem, table, column },
  );
}

function isTooLarge(value: number | string | Uint8Array): boolean {
  if (typeof value === 'number') return false;
  if (typeof value !== 'string') return value.length > MAX_VALUE_BYTES;
  // A UTF-16 unit encodes to one to three bytes, so the bytes are counted only if the length does not decide.
  if (value.length * 3 <= MAX_VALUE_BYTES) return false;
  return value.length > MAX_VALUE_BYTES || new TextEncoder().encode(value).length > MAX_VALUE_BYTES;
}
