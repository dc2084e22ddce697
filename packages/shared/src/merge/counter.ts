import type { CellValue } from '../change/cell-value.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';

/**
 * Adds what an update of a counter sends to what is there. Throws `value-invalid` where either is not an integer or the
 * sum leaves 64 bits.
 */
export function addToCounter(value: CellValue, delta: CellValue): bigint {
  if (typeof value !== 'bigint' || typeof delta !== 'bigint')
    throw new RockpoolError('value-invalid', { problem: 'counter-not-integer' });
  const sum = value + delta;
  if (BigInt.asIntN(64, sum) !== sum) throw new RockpoolError('value-invalid', { problem: 'counter-range' });
  return sum;
}

/** What an update of a counter sends: the difference that it makes. */
export function counterDelta(before: CellValue, after: CellValue): bigint {
  if (typeof before !== 'bigint' || typeof after !== 'bigint')
    throw new RockpoolError('value-invalid', { problem: 'counter-not-integer' });
  const delta = after - before;
  if (BigInt.asIntN(64, delta) !== delta) throw new RockpoolError('value-invalid', { problem: 'counter-range' });
  return delta;
}
