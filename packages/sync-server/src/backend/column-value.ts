import { RockpoolError, type CellValue, type ColumnSchema } from '@rockpool/shared';

/** A value in the server's own program. An INTEGER may be a number or a bigint; a boolean becomes 0 or 1. */
export type BackendValue = null | boolean | number | bigint | string | Uint8Array;

/** A row by column name. */
export type BackendRow = Readonly<Record<string, BackendValue>>;

/** Text that SQLite converts to a number in a column with numeric affinity. */
const NUMBER = /^[ \t\n\v\f\r]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t\n\v\f\r]*$/;
const WHOLE_NUMBER = /^[ \t\n\v\f\r]*\+?(-?\d+)[ \t\n\v\f\r]*$/;

/**
 * Converts a value to the cell of a column, as SQLite would convert it. Admission rejects a value that the column
 * cannot hold, as for any client. Throws `value-invalid` for a number in an INTEGER column that is not a safe integer.
 */
export function toCell(value: BackendValue, { type, name }: ColumnSchema): CellValue {
  if (value === null || value instanceof Uint8Array) return value;
  const plain = typeof value === 'boolean' ? BigInt(value) : value;
  switch (type) {
    case 'text':
      return String(plain);
    case 'real':
      return typeof plain === 'string' && !NUMBER.test(plain) ? plain : Number(plain);
    case 'integer':
      if (typeof plain === 'number' && !Number.isSafeInteger(plain))
        throw new RockpoolError('value-invalid', { column: name, problem: 'the value is not an integer' });
      return toNumeric(plain);
    case 'numeric':
      return toNumeric(plain);
    case 'blob':
      return plain;
  }
}

/** Returns a 64-bit integer if that is exact, otherwise a REAL. Text that is not a number stays text. */
function toNumeric(value: number | bigint | string): CellValue {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : value;
  if (!NUMBER.test(value)) return value;
  const digits = WHOLE_NUMBER.exec(value)?.[1];
  const whole = digits === undefined ? null : BigInt(digits);
  return whole !== null && BigInt.asIntN(64, whole) === whole ? whole : toNumeric(Number(value));
}
