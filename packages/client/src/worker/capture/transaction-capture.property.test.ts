import type { CellValue } from '@rockpool/shared';
import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Connection } from '../sqlite/connection.ts';
import { loadSqlite } from '../sqlite/load-sqlite.node.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { readCaptureTable } from './capture-table.ts';
import { TransactionCapture } from './transaction-capture.ts';

const runtime = await loadSqlite();
const schema = testTable('t', { id: 'text not null', a: 'blob', b: 'blob' });

const edges = [31n, 32n, 53n, 63n].flatMap((bits) =>
  [-1n, 0n, 1n].flatMap((by) => [2n ** bits + by, -(2n ** bits) + by]),
);
const integer = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(...edges.map((edge) => BigInt.asIntN(64, edge))),
);
// SQLite binds -0.0 as 0.0.
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const text = fc
  .oneof(fc.string({ maxLength: 50 }), fc.string({ unit: anyCharacter, maxLength: 50 }), fc.constant('\uFEFFmark'))
  .filter((value) => !value.includes('\u0000'));
const cell: fc.Arbitrary<CellValue> = fc.oneof(
  fc.constant(null),
  integer,
  real,
  text,
  fc.uint8Array({ maxLength: 300 }),
);

it('a capture reads every new and old value exactly as it was bound', () => {
  const connection = new Connection(runtime, { path: ':memory:' });
  connection.exec('CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a BLOB, b BLOB)');
  const capture = new TransactionCapture(connection, [readCaptureTable(connection, schema)]);
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text, cell, cell), { selector: ([key]) => key, minLength: 1, maxLength: 20 }),
      (rows) => {
        const insert = connection.prepare('INSERT INTO t VALUES (?, ?, ?)');
        connection.exec('BEGIN');
        capture.begin();
        for (const row of rows) insert.runCells(...row);
        const inserted = capture.take();
        capture.end();
        insert.release();

        capture.begin();
        connection.exec('DELETE FROM t');
        const deleted = capture.take();
        capture.end();
        connection.exec('COMMIT');

        const byKey = (
          keys: readonly CellValue[] = [],
          a: readonly CellValue[] = [],
          b: readonly CellValue[] = [],
        ): unknown => Object.fromEntries(keys.map((key, r) => [String(key), [a[r], b[r]]]));
        const expected = Object.fromEntries(rows.map(([key, a, b]) => [key, [a, b]]));
        expect(
          byKey(inserted.groups[0]?.keys[0], inserted.groups[0]?.values[0], inserted.groups[0]?.values[1]),
        ).toStrictEqual(expected);
        expect(
          byKey(deleted.groups[0]?.keys[0], deleted.before[0]?.values[0], deleted.before[0]?.values[1]),
        ).toStrictEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
  connection.close();
});
