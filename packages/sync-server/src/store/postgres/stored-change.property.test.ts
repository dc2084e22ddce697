import { DatabaseSync } from 'node:sqlite';
import { readSessionChangeset, type CellValue, type PartialRecord } from '@rockpool/shared';
import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';

type ReadChange = readonly [table: string, kind: string, ...records: PartialRecord[]];

function read(bytes: Uint8Array): ReadChange[] {
  const changes: ReadChange[] = [];
  readSessionChangeset(bytes, (table, isKey) => {
    expect(isKey).toStrictEqual([false, true, false]);
    return {
      insert: (after) => void changes.push([table, 'insert', after]),
      delete: (before) => void changes.push([table, 'delete', before]),
      update: (before, after) => void changes.push([table, 'update', before, after]),
      columnName: (position) => `column ${position}`,
    };
  });
  return changes;
}

function open(): DatabaseSync {
  const database = new DatabaseSync(':memory:', { readBigInts: true });
  database.exec('CREATE TABLE t (a BLOB, id TEXT PRIMARY KEY NOT NULL, b BLOB)');
  return database;
}

/** The changeset that SQLite records for `work`. */
function changesetOf(database: DatabaseSync, work: () => void): Uint8Array {
  const session = database.createSession();
  work();
  const bytes = session.changeset();
  session.close();
  return bytes;
}

const cell: fc.Arbitrary<CellValue> = fc.oneof(
  fc.constant(null),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 53n - 1n, -(2n ** 53n) - 1n, -1n, 0n),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.string({ unit: anyCharacter, maxLength: 50 }).filter((value) => !value.includes('\u0000')),
  fc.uint8Array({ maxLength: 300 }),
);

it('a stored change of each kind is read as SQLite recorded it', () => {
  fc.assert(
    fc.property(cell, cell, cell, (a, b, other) => {
      const database = open();
      expect(
        read(changesetOf(database, () => database.prepare('INSERT INTO t VALUES (?, ?, ?)').run(a, 'k', b))),
      ).toStrictEqual([['t', 'insert', [a, 'k', b]]]);
      const updated = read(changesetOf(database, () => database.prepare('UPDATE t SET b = ?').run(other)));
      const { now } = database.prepare('SELECT b AS now FROM t').get() as { now: CellValue };
      expect(updated.length === 0 || updated[0]?.[3]?.[2] === undefined ? now : updated[0]?.[3]?.[2]).toStrictEqual(
        now,
      );
      for (const [, , before, after] of updated) {
        expect(before).toStrictEqual([undefined, 'k', b]);
        expect(after).toStrictEqual([undefined, undefined, other]);
      }
      expect(read(changesetOf(database, () => database.exec('DELETE FROM t')))).toStrictEqual([
        ['t', 'delete', [a, 'k', now]],
      ]);
      database.close();
    }),
  );
});

it('reading a stored change rejects a new text that is not UTF-8 and names its column, but accepts such an old text', () => {
  const database = open();
  expect(() =>
    read(changesetOf(database, () => database.exec(`INSERT INTO t VALUES (1, 'k', CAST(x'41ff' AS TEXT))`))),
  ).toThrow(
    expect.objectContaining({
      code: 'value-invalid',
      fields: { problem: 'text-not-utf8', table: 't', column: 'column 2' },
    }),
  );
  expect(read(changesetOf(database, () => database.exec('DELETE FROM t')))).toStrictEqual([
    ['t', 'delete', [1n, 'k', 'A\uFFFD']],
  ]);
  database.close();
});
