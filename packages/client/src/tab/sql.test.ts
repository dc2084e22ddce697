import { describe, expect, it } from 'vitest';
import type { SqlParam } from '../rpc/sql-value.ts';
import { sql, statementKey } from './sql.ts';

describe('sql', () => {
  it('binds a parameter for each value', () => {
    expect(sql`UPDATE t SET a = ${1}, b = ${"x'; DROP"} WHERE c = ${null}`).toEqual({
      sql: 'UPDATE t SET a = ?, b = ? WHERE c = ?',
      params: [1, "x'; DROP", null],
    });
  });
});

describe('statementKey', () => {
  const key = (...params: SqlParam[]): string => statementKey({ sql: 'SELECT ?', params });

  it('is equal for equal values', () => {
    expect(key(1, 'a', new Uint8Array([1, 2]))).toBe(key(1, 'a', new Uint8Array([1, 2])));
  });

  it('differs for values that are bound differently', () => {
    const params: SqlParam[] = [0, -0, 0n, false, '0', null, 'null', new Uint8Array([0]), new Uint8Array(), '', '48'];
    expect(new Set(params.map((param) => key(param))).size).toBe(params.length);
  });

  it('differs for a text that contains the separator', () => {
    expect(key('a\u0000text:1:b')).not.toBe(key('a', 'b'));
  });
});
