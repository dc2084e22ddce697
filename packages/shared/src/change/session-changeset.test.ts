import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { readSessionChangeset, type PartialRecord } from './session-changeset.ts';

type Told = readonly [table: string, kind: string, ...records: PartialRecord[]];

/*
 * The changeset that SQLite 3.47 made of a table t (a BLOB, id TEXT PRIMARY KEY, b BLOB) with the rows (-5, 'k2', 'ü')
 * and (0.5, 'k3', x'00ff'): column a of k2 becomes 'text', k3 is deleted, (2^53 + 1, 'k4', 1.5) is inserted.
 */
const RECORDED = Uint8Array.from(
  (
    '54030001007400' +
    '170001fffffffffffffffb03026b320003047465787400000900023fe000000000000003026b33040200ff120001002000000000000103026b34023ff8000000000000'
  ).match(/../g) ?? [],
  (pair) => Number.parseInt(pair, 16),
);

function read(bytes: Uint8Array): Told[] {
  const told: Told[] = [];
  readSessionChangeset(bytes, (table, isKey) => ({
    insert: (after) => void told.push([table, `insert ${isKey.join()}`, after]),
    delete: (before) => void told.push([table, 'delete', before]),
    update: (before, after) => void told.push([table, 'update', before, after]),
    columnName: (position) => `column ${position}`,
  }));
  return told;
}

it('a session changeset returns every value exactly as SQLite recorded it', () => {
  expect(read(RECORDED)).toStrictEqual([
    ['t', 'update', [-5n, 'k2', undefined], ['text', undefined, undefined]],
    ['t', 'delete', [0.5, 'k3', Uint8Array.of(0, 255)]],
    ['t', 'insert false,true,false', [2n ** 53n + 1n, 'k4', 1.5]],
  ]);
  expect(read(new Uint8Array())).toStrictEqual([]);
});

it('a session changeset returns integers of any size exactly', () => {
  const limits = [2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 2n];
  const values = limits.flatMap((limit) => [limit - 1n, limit, limit + 1n]).flatMap((value) => [value, -value]);
  for (const value of values) {
    const bytes = Uint8Array.of(0x54, 1, 1, 0x74, 0, 18, 0, 1, ...new Uint8Array(8));
    new DataView(bytes.buffer).setBigInt64(bytes.length - 8, value);
    expect(read(bytes)).toStrictEqual([['t', 'insert true', [value]]]);
  }
});

it('a session changeset with a new text that is not UTF-8 fails with the name of the column', () => {
  const damaged = RECORDED.slice();
  damaged[damaged.indexOf(0x74, 10)] = 0xff; // the first letter of 'text'
  expect(() => read(damaged)).toThrow(
    expect.objectContaining({
      code: 'value-invalid',
      fields: { problem: 'text-not-utf8', table: 't', column: 'column 0' },
    }),
  );
});

it('a session changeset fails with a typed error wherever bytes are missing or damaged', () => {
  const attempt = (bytes: Uint8Array): void => {
    try {
      read(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(RockpoolError);
    }
  };
  for (let end = 0; end < RECORDED.length; end++) attempt(RECORDED.slice(0, end));
  expect(() => read(RECORDED.slice(0, -1))).toThrow(RockpoolError);
  fc.assert(
    fc.property(fc.nat(RECORDED.length - 1), fc.nat(255), (at, byte) =>
      attempt(Uint8Array.from(RECORDED, (was, i) => (i === at ? byte : was))),
    ),
    { numRuns: 2_000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => attempt(Uint8Array.of(0x54, ...bytes))));
});
