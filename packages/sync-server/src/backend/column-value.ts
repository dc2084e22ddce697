import { RockpoolError, type CellValue, type ColumnSchema } from '@rockpool/shared';

/** A value as a program has it. An integer may be a number or a bigint, a boolean is 0 or 1. */
export type BackendValue = null | boolean | number | bigint | string | Uint8Array;

/** A row by the names of its columns. */
export type BackendRow = Readonly<Record<string, BackendValue>>;

/** The cell that a column gets. What cannot be stored is refused when it is admitted, like anybody's. */
export function toCell(value: BackendValue, { type, name }: ColumnSchema): CellValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value !== 'number') return value;
  if (type === 'real') return value;
  if (Number.isSafeInteger(value)) return BigInt(value);
  if (type === 'integer') throw new RockpoolError('value-invalid', { column: name, problem: 'not an integer' });
  return value;
}
