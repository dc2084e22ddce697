import type { CellValue, ColumnType } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { column } from '../../testing/test-schema.ts';
import { toCell, type BackendValue } from './column-value.ts';

const TYPES: readonly ColumnType[] = ['text', 'integer', 'real', 'numeric', 'blob'];
const TEXTS = [
  '',
  '12',
  ' 12 ',
  '+12',
  '-12',
  '007',
  '12.0',
  '12.50',
  '.5',
  '5.',
  '1e3',
  '1E-3',
  '1e',
  '0x10',
  '1_0',
  '1 2',
  'many',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '123456789012345678901234567890',
  '--1',
  '+-1',
  '1.5e300',
];
const VALUES: readonly BackendValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  2 ** 53 - 1,
  0n,
  5n,
  -(2n ** 63n),
  2n ** 63n - 1n,
  Uint8Array.of(1),
  ...TEXTS,
];

describe('a backend value', () => {
  it.each(TYPES)('is converted as SQLite converts it for the column: %s [VK-07]', (type) => {
    const sql = new SqliteFile(':memory:');
    sql.exec(`CREATE TABLE t (v ${type.toUpperCase()})`);
    for (const value of VALUES) {
      const bound: CellValue =
        typeof value === 'boolean'
          ? BigInt(value)
          : Number.isInteger(value)
            ? BigInt(value as number)
            : (value as CellValue);
      sql.run('DELETE FROM t');
      sql.run('INSERT INTO t VALUES (?)', bound);
      const cell = toCell(value, column('v', type));
      // SQLite converts nothing in a BLOB column, and the column rejects numbers.
      if (type === 'blob' && typeof value === 'number') expect(cell).toBe(value);
      else expect(cell, `${String(value)} in ${type}`).toEqual(sql.get('SELECT v FROM t')?.[0]);
    }
    sql.close();
  });

  it('is refused if it is a fraction for an INTEGER column, and kept in other columns', () => {
    expect(toCell(1.5, column('v', 'numeric'))).toBe(1.5);
    expect(toCell(2 ** 60, column('v', 'numeric'))).toBe(2n ** 60n);
    expect(toCell(2 ** 63, column('v', 'numeric'))).toBe(2 ** 63);
    expect(toCell(1.5, column('v', 'real'))).toBe(1.5);
    expect(toCell(1.5, column('v', 'text'))).toBe('1.5');
    for (const value of [1.5, 2 ** 53])
      expect(() => toCell(value, column('v', 'integer'))).toThrow(
        expect.objectContaining({ code: 'value-invalid' }) as Error,
      );
  });
});
