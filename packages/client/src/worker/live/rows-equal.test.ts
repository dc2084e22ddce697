import { describe, expect, it } from 'vitest';
import type { EncodedColumn, EncodedRows } from '../../rpc/rows-transfer.ts';
import { rowsEqual } from './rows-equal.ts';

const result = (column: EncodedColumn, rowCount = 2, name = 'c'): EncodedRows => ({ names: [name], columns: [column], rowCount });
const numbers = (values: number[], nulls: number | null = null): EncodedColumn => ({
  kind: 'number',
  values: new Float64Array(values),
  nulls: nulls === null ? null : new Uint8Array([nulls]),
});
const text = (ends: number[], bytes: number[]): EncodedColumn => ({ kind: 'text', ends: new Uint32Array(ends), bytes: new Uint8Array(bytes), nulls: null });

describe('rowsEqual', () => {
  it('is true for equal results of every kind', () => {
    const columns = (): EncodedColumn[] => [
      { kind: 'null' },
      numbers([1, 2.5], 2),
      text([1, 2], [65, 66]),
      { kind: 'blob', ends: new Uint32Array([1, 1]), bytes: new Uint8Array([7]), nulls: new Uint8Array([2]) },
      { kind: 'mixed', values: [1n, new Uint8Array([1])] },
    ];
    const other = columns();
    for (const [index, column] of columns().entries()) expect(rowsEqual(result(column), result(other[index] as EncodedColumn))).toBe(true);
  });

  it('is false where anything differs', () => {
    const base = result(numbers([0, 2], 2));
    const different = [
      result(numbers([0, 3], 2)),
      result(numbers([-0, 2], 2)),
      result(numbers([0, 2], 1)),
      result(numbers([0, 2])),
      result(numbers([0, 2], 2), 2, 'd'),
      result(numbers([0], 2), 1),
      result({ kind: 'null' }),
      result({ kind: 'mixed', values: [0, 2] }),
    ];
    for (const other of different) expect(rowsEqual(base, other)).toBe(false);
    expect(rowsEqual(result(text([1, 2], [65, 66])), result(text([2, 2], [65, 66])))).toBe(false);
    expect(rowsEqual(result(text([1, 2], [65, 66])), result(text([1, 2], [65, 67])))).toBe(false);
    expect(rowsEqual(result({ kind: 'mixed', values: [1n, 1] }), result({ kind: 'mixed', values: [1, 1] }))).toBe(false);
  });
});
