import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { Connection } from '../worker/sqlite/connection.ts';
import { encodeRows } from '../worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../worker/sqlite/load-sqlite.node.ts';
import { decodeRows, rowsTransferables, type EncodedRows } from './rows-transfer.ts';
import type { SqlRow, SqlValue } from './sql-value.ts';

const runtime = await loadSqlite();
const connection = new Connection(runtime, { path: ':memory:' });

function encode(sql: string, params: readonly SqlValue[] = []): EncodedRows {
  const statement = connection.prepare(sql);
  try {
    statement.bindParams(params);
    return encodeRows(statement);
  } finally {
    statement.release();
  }
}

/** Transfers a result like a message between threads. */
function transfer(encoded: EncodedRows): EncodedRows {
  return structuredClone(encoded, { transfer: rowsTransferables(encoded) });
}

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.constantFrom('', '\uFEFFmark', '\u0000', 'é', '😀', 'x'.repeat(200)),
);
const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.constant(-0));
const big = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .filter((value) => !Number.isSafeInteger(Number(value)));
const blob = fc.uint8Array({ maxLength: 60 });

const column: fc.Arbitrary<fc.Arbitrary<SqlValue>> = fc.constantFrom<fc.Arbitrary<SqlValue>>(
  fc.constant(null),
  number,
  fc.option(number, { freq: 2 }),
  text,
  fc.option(text, { freq: 2 }),
  blob,
  fc.option(blob, { freq: 2 }),
  fc.oneof(number, big),
  fc.oneof(number, text, blob, big, fc.constant(null)),
);
const table = column.chain((first) => column.chain((second) => fc.array(fc.tuple(first, second), { maxLength: 40 })));

/** SQLite stores -0 as 0. */
const stored = (value: SqlValue): SqlValue => (Object.is(value, -0) ? 0 : value);

describe('a result that crosses threads', () => {
  it('equals the rows read value by value', () => {
    fc.assert(
      fc.property(table, (rows) => {
        connection.exec('DROP TABLE IF EXISTS t; CREATE TABLE t (n INTEGER PRIMARY KEY, a, b)');
        for (const row of rows) connection.run('INSERT INTO t (a, b) VALUES (?, ?)', ...row);
        const decoded = decodeRows(transfer(encode('SELECT a, b FROM t ORDER BY n')));
        const plain = connection
          .rows('SELECT a, b FROM t ORDER BY n')
          .map(([a, b]): SqlRow => ({ a: a as SqlValue, b: b as SqlValue }));
        expect(decoded).toStrictEqual(plain);
        expect(decoded).toStrictEqual(rows.map(([a, b]) => ({ a: stored(a), b: stored(b) })));
      }),
      { numRuns: atLevel({ test: 100, verify: 300 }) },
    );
  });

  it('replaces invalid UTF-8 without shifting adjacent texts', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 12 }),
            text.map((value) => new TextEncoder().encode(value)),
          ),
          { maxLength: 20 },
        ),
        (blobs) => {
          connection.exec('DROP TABLE IF EXISTS t; CREATE TABLE t (n INTEGER PRIMARY KEY, a)');
          for (const bytes of blobs) connection.run('INSERT INTO t (a) VALUES (CAST(? AS TEXT))', bytes);
          const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
          expect(decodeRows(encode('SELECT a FROM t ORDER BY n'))).toStrictEqual(
            blobs.map((bytes) => ({ a: lenient.decode(bytes) })),
          );
        },
      ),
      { numRuns: atLevel({ test: 100, verify: 300 }) },
    );
  });

  it('transfers its buffers, except small ones', () => {
    const sql = `WITH n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
      SELECT iif(n = 1, 1, NULL) AS a, iif(n = 1, ?, NULL) AS b, iif(n = 1, zeroblob(1024), NULL) AS c, NULL AS d FROM n`;
    // With this many rows, the NULL bits also take more than a kilobyte.
    for (const [rowCount, text, bufferCount] of [
      [10_000, 'x'.repeat(1024), 8],
      [2, 'x', 1],
    ] as const) {
      const encoded = encode(sql, [rowCount, text]);
      const buffers = rowsTransferables(encoded);
      expect(new Set(buffers).size).toBe(bufferCount);
      const moved = transfer(encoded);
      expect(buffers.every((buffer) => buffer.byteLength === 0)).toBe(true);
      const [first, second] = decodeRows(moved);
      expect(first).toStrictEqual({ a: 1, b: text, c: new Uint8Array(1024), d: null });
      expect(second).toStrictEqual({ a: null, b: null, c: null, d: null });
    }
  });

  it('keeps special property names and empty results', () => {
    const [row] = decodeRows(encode('SELECT 1 AS "__proto__", 2 AS "constructor", 3 AS "a", 4 AS "a"'));
    expect(Object.keys(row as SqlRow)).toEqual(['__proto__', 'constructor', 'a']);
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    expect(Object.values(row as SqlRow)).toEqual([1, 2, 4]);
    expect(decodeRows(encode("SELECT 1 AS a, 'x' AS b WHERE 0"))).toEqual([]);
  });

  it('includes columns added after the statement was prepared', () => {
    connection.exec('DROP TABLE IF EXISTS t; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    encode('SELECT * FROM t');
    connection.exec('ALTER TABLE t ADD COLUMN b DEFAULT 2');
    expect(decodeRows(encode('SELECT * FROM t'))).toEqual([{ a: 1, b: 2 }]);
  });
});
