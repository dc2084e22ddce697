import { describe, expect, it } from 'vitest';
import { decodeColumn, decodeRows } from '../../rpc/rows-transfer.ts';
import type { SqlRow } from '../../rpc/sql-value.ts';
import { isSame } from '../../../testing/worker/is-same.ts';
import { Connection } from './connection.ts';
import { encodeRows, encodeSomeRows, RowsEncoder } from './encode-rows.ts';
import { loadSqlite } from './load-sqlite.node.ts';

const connection = new Connection(await loadSqlite(), { path: ':memory:' });

const counting = (rowCount: number, columns: string): string =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowCount - 1}) SELECT ${columns} FROM n`;

function encode(sql: string): SqlRow[] {
  const statement = connection.prepare(sql);
  const rows = decodeRows(encodeRows(statement));
  statement.release();
  return rows;
}

/** Reads a result value by value. */
function plain(sql: string, names: readonly string[]): SqlRow[] {
  return connection
    .rows(sql)
    .map((values) => Object.fromEntries(names.map((name, c) => [name, values[c] ?? null]))) as SqlRow[];
}

describe('encoding a result that SQLite’s memory holds only in parts', () => {
  // 40 bytes of text a row exceed a part after 26,000 rows; one column exceeds its cells after 131,072.
  const ROWS = 140_000;
  it.each([
    ['text beside numbers', "i AS a, printf('%040d', i) AS b", ['a', 'b']],
    ['text that is not ASCII', "substr('äöü€😀', 1 + i % 5) || i AS a", ['a']],
    ['a column that is NULL in the first part', 'CASE WHEN i > 100000 THEN i END AS a, i AS b', ['a', 'b']],
    ['a text column that is NULL in the last part', "CASE WHEN i < 100000 THEN 't' || i END AS a", ['a']],
    [
      'NULLs that no byte of the bitmap aligns with',
      'CASE WHEN i % 7 > 2 THEN i END AS a, i AS b, i AS c',
      ['a', 'b', 'c'],
    ],
    ['a column whose type differs by part', "CASE WHEN i < 135000 THEN i ELSE 'x' || i END AS a", ['a']],
    ['a column that is mixed in the second part only', "CASE WHEN i = 139999 THEN 'last' ELSE i END AS a", ['a']],
    ['integers that a double cannot hold', 'CASE WHEN i % 66000 = 5 THEN 9007199254740993 + i ELSE i END AS a', ['a']],
    ['blobs', 'CAST(i AS BLOB) AS a, zeroblob(i % 3) AS b', ['a', 'b']],
  ])('joins %s', (_, columns, names) => {
    const sql = counting(ROWS, columns);
    const statement = connection.prepare(sql);
    const encoded = encodeRows(statement);
    statement.release();
    const expected = connection.rows(sql);
    expect([encoded.names, encoded.rowCount]).toEqual([names, ROWS]);
    // Column by column: an object for every row takes longer than encoding.
    for (const [index, column] of encoded.columns.entries()) {
      const values = decodeColumn(column, ROWS);
      expect(expected.findIndex((row, r) => !isSame(values[r], row[index]))).toBe(-1);
    }
  });
});

it('does not mix the rows of two results that are encoded alternately', () => {
  const first = connection.prepare(counting(1000, "i AS a, 'first' AS b"));
  const second = connection.prepare(counting(500, "'second' AS a"));
  const encoders = [new RowsEncoder(first), new RowsEncoder(second)] as const;
  let isMore = [true, true];
  while (isMore.includes(true)) isMore = encoders.map((encoder, index) => isMore[index] === true && encoder.take(64));
  const [a, b] = encoders.map((encoder) => decodeRows(encoder.finish()));
  expect(a?.map((row) => row['a'])).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  expect(b).toEqual(Array.from({ length: 500 }, () => ({ a: 'second' })));
  first.release();
  second.release();
});

it('encoding continues a result where the last rows ended', () => {
  const statement = connection.prepare(counting(300, 'i'));
  const numbers: unknown[] = [];
  for (let isEnd = false; !isEnd;) {
    const next = encodeSomeRows(statement, (rowCount) => rowCount >= 100);
    isEnd = next.isEnd;
    numbers.push(...decodeRows(next.rows).map((row) => row['i']));
  }
  expect(numbers).toEqual(Array.from({ length: 300 }, (_, i) => i));
  statement.release();
});

it('encoding reads the column names again after a schema change', () => {
  connection.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  expect(encode('SELECT * FROM t')).toEqual([{ a: 1 }]);
  connection.exec("ALTER TABLE t ADD COLUMN b DEFAULT 'new'");
  expect(encode('SELECT * FROM t')).toEqual([{ a: 1, b: 'new' }]);
  connection.exec('ALTER TABLE t RENAME COLUMN a TO renamed');
  expect(encode('SELECT * FROM t')).toEqual([{ renamed: 1, b: 'new' }]);
});

it('encoding rejects a result over the limit and leaves the statement usable', () => {
  const sql = `SELECT zeroblob(20 * 1024 * 1024) AS a FROM (${counting(14, 'i')}) LIMIT ?`;
  const statement = connection.prepare(sql);
  statement.bindParams([14]);
  expect(() => encodeRows(statement)).toThrow(
    expect.objectContaining({
      code: 'query-invalid',
      fields: expect.objectContaining({ problem: 'the result is too large' }) as object,
    }) as Error,
  );
  statement.bindParams([1]);
  expect(encodeRows(statement).rowCount).toBe(1);
  statement.release();
});

it('encoding reports an error in the middle of a result and leaves the statement usable', () => {
  const statement = connection.prepare(
    counting(100, 'CASE WHEN i = 70 AND ?1 THEN abs(-9223372036854775808) ELSE i END AS a'),
  );
  statement.bindParams([1]);
  expect(() => encodeRows(statement)).toThrow(expect.objectContaining({ code: expect.any(String) as string }) as Error);
  statement.bindParams([0]);
  expect(encodeRows(statement).rowCount).toBe(100);
  statement.release();
});

it('a result that fails within a row leaves neither its NULLs nor its rows to the next result', () => {
  // The ninth row has a NULL before the value that is too large.
  const statement = connection.prepare(
    counting(9, 'CASE WHEN i < 8 THEN i END AS a, zeroblob(CASE WHEN i = 8 THEN 257 * 1024 * 1024 END) AS b'),
  );
  const encoder = new RowsEncoder(statement);
  expect(() => encoder.take(20)).toThrow(expect.objectContaining({ code: 'query-invalid' }) as Error);
  expect(statement.storedRows.belongTo(encoder)).toBe(false);
  const sql = counting(20, 'CASE WHEN i <> 3 THEN i END AS a');
  expect(encode(sql)).toEqual(plain(sql, ['a']));
  statement.release();
});
