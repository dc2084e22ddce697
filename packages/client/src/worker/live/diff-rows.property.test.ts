import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDiff } from '../../rpc/rows-diff.ts';
import { decodeRows, type EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlRow, SqlValue } from '../../rpc/sql-value.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { diffRows, isUnchanged } from './diff-rows.ts';

const database = openInMemory();

/** A result with these rows, produced by SQLite and encoded like any other. */
function resultOf(rows: readonly (readonly SqlValue[])[]): EncodedRows {
  if (rows.length === 0) return database.query('SELECT 1 AS a, 2 AS b WHERE 0', []);
  return database.query(rows.map(() => 'SELECT ? AS a, ? AS b').join(' UNION ALL '), rows.flat());
}

const VALUE = fc.oneof(
  fc.constantFrom<SqlValue>(null, 0, -0, 1, 1.5, 2n ** 60n, 'a', 'ü', '😀b', ''),
  fc.uint8Array({ maxLength: 3 }),
  fc.string({ maxLength: 4, unit: 'grapheme' }).filter((text) => !text.includes('\0') && text.isWellFormed()),
);
const ROWS = fc.oneof(
  fc.array(fc.tuple(VALUE, VALUE), { maxLength: 12 }),
  fc.array(fc.tuple(fc.constantFrom('a', 'ü', '😀'), fc.constantFrom(1, 2, 3)), { maxLength: 12 }),
);

describe('a diff of two results', () => {
  it('turns the first result into the second', () => {
    fc.assert(
      fc.property(ROWS, ROWS, (first, second) => {
        const before = resultOf(first);
        const after = resultOf(second);
        const diff = diffRows(before, after);
        expect(applyDiff(decodeRows(before), diff)).toEqual(decodeRows(after));
        expect(isUnchanged(diff, before)).toBe(
          JSON.stringify(decodeRows(before), plain) === JSON.stringify(decodeRows(after), plain),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every row that is in both, whatever its position', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer(), { maxLength: 20 }),
        fc.uniqueArray(fc.integer(), { maxLength: 5 }),
        fc.infiniteStream(fc.nat()),
        (numbers, added, random) => {
          const shuffled = [...new Set([...numbers.slice(numbers.length >> 2), ...added])].map((number) => ({
            number,
            rank: random.next().value ?? 0,
          }));
          const next = shuffled.toSorted((x, y) => x.rank - y.rank).map(({ number }) => number);
          const toRows = (list: readonly number[]): EncodedRows =>
            resultOf(list.map((number) => [number, `row ${number}`]));
          const before = decodeRows(toRows(numbers));
          const rows = applyDiff(before, diffRows(toRows(numbers), toRows(next)));
          const known = new Set<SqlRow>(before);
          expect(rows.filter((row) => known.has(row))).toHaveLength(
            next.filter((number) => numbers.includes(number)).length,
          );
        },
      ),
    );
  });

  it('sends one row if one of a thousand changed', () => {
    const rows = Array.from({ length: 400 }, (_, n): SqlValue[] => [n, `ü${n}`]);
    const changed = rows.with(200, [200, 'changed']);
    const { runs, added } = diffRows(resultOf(rows), resultOf(changed));
    expect([...runs]).toEqual([0, 200, -1, 1, 201, 199]);
    expect(decodeRows(added)).toEqual([{ a: 200, b: 'changed' }]);
  });
});

function plain(_key: string, value: unknown): unknown {
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'bigint'
    ? `bigint ${value}`
    : value instanceof Uint8Array
      ? `bytes ${value.join(',')}`
      : value;
}
