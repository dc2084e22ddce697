import { describe, expect, it } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

describe('a repeated request', () => {
  it('returns the same rows for values of every kind', () => {
    const database = openInMemory();
    const statements = [
      {
        sql: 'INSERT INTO account (id, name, amount, rate, extra) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?) RETURNING *',
        params: [
          'a',
          null,
          2n ** 60n,
          -0,
          new Uint8Array([0, 9, 255]),
          'b',
          'ü "',
          7,
          Number.MAX_VALUE,
          new Uint8Array(),
        ],
      },
    ];
    const [first] = database.write({ id: 'request', statements }).results;
    const [again] = database.write({ id: 'request', statements }).results;
    const rows = decodeRows(first?.rows ?? { names: [], columns: [], rowCount: 0 });
    expect(rows).toHaveLength(2);
    expect(again?.rows && decodeRows(again.rows)).toEqual(rows);
    expect(again?.changes).toBe(2);
  });
});
