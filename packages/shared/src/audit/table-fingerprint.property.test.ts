import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CellValue } from '../change/cell-value.ts';
import { keyToString } from '../change/primary-key.ts';
import { cellValue, keyPart } from '../../testing/arbitraries.ts';
import { sampleColumn, sampleTable } from '../../testing/sample-schema.ts';
import { auditRangeCount, differingRanges, MAX_AUDIT_RANGES, TableFingerprint } from './table-fingerprint.ts';

const table = sampleTable('entry', [
  sampleColumn('id', 'text', { notNull: true }),
  sampleColumn('amount', 'integer'),
  sampleColumn('note', 'text'),
]);

interface Row {
  readonly key: readonly CellValue[];
  readonly cells: readonly CellValue[];
}

const row: fc.Arbitrary<Row> = fc.record({ key: fc.tuple(keyPart), cells: fc.tuple(cellValue, cellValue) });
const rows: fc.Arbitrary<Row[]> = fc.uniqueArray(row, { selector: ({ key }) => keyToString(key), maxLength: 30 });

function fingerprint(of: readonly Row[], rangeCount = 16): TableFingerprint {
  const sums = new TableFingerprint(table, rangeCount);
  for (const { key, cells } of of) sums.add(key, cells);
  return sums;
}

describe('a fingerprint', () => {
  it('is the same for the same rows in any order', () => {
    fc.assert(
      fc.property(rows, (some) => void expect(fingerprint(some.toReversed()).sums).toEqual(fingerprint(some).sums)),
    );
  });

  it('differs only in the range of a row if any value of that row differs', () => {
    fc.assert(
      fc.property(
        rows.filter((some) => some.length > 0),
        fc.nat(),
        fc.nat(),
        cellValue,
        (some, at, column, value) => {
          const changed = some[at % some.length] as Row;
          const cells = changed.cells.with(column % 2, value);
          fc.pre(
            !Object.is(cells[column % 2], changed.cells[column % 2]) &&
              String(cells[column % 2]) !== String(changed.cells[column % 2]),
          );
          const before = fingerprint(some);
          const after = fingerprint(some.map((each) => (each === changed ? { key: each.key, cells } : each)));
          expect(differingRanges(before.sums, after.sums)).toEqual([before.rangeOfKey(changed.key)]);
        },
      ),
    );
  });

  it('is the same for 0.0 and -0.0, which are equal in SQLite', () => {
    const [zero, negative] = [0, -0].map((value) => [...fingerprint([{ key: ['a'], cells: [value, null] }]).sums]);
    expect(negative).toEqual(zero);
  });

  it('distinguishes values that look alike, and values in swapped columns', () => {
    const of = (...cells: CellValue[]): number[] => [...fingerprint([{ key: ['a'], cells }], 1).sums];
    const alike: CellValue[][] = [
      [1n, null],
      [1, null],
      ['1', null],
      [Uint8Array.of(49), null],
      [null, 1n],
      [null, null],
      ['', null],
      [0n, null],
      [2n ** 32n + 1n, null],
      [-1n, null],
      ['ab', 'c'],
      ['a', 'bc'],
    ];
    expect(new Set(alike.map((cells) => of(...cells).join())).size).toBe(alike.length);
    expect(of(-0, null)).toEqual(of(0, null));
  });

  it('is the same after a row was added and removed', () => {
    fc.assert(
      fc.property(rows, row, (some, { key, cells }) => {
        const sums = fingerprint(some);
        sums.add(key, cells);
        sums.subtract(key, cells);
        expect([sums.sums, sums.rowCount]).toEqual([fingerprint(some).sums, some.length]);
      }),
    );
  });

  it('divides rows into ranges of about the same size', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => [`entry-${index}`]);
    const sums = new TableFingerprint(table, 64);
    const counts = new Map<number, number>();
    for (const key of keys) counts.set(sums.rangeOfKey(key), (counts.get(sums.rangeOfKey(key)) ?? 0) + 1);
    expect(counts.size).toBe(64);
    expect(Math.max(...counts.values())).toBeLessThan(450);
  });

  it('gives 100,000 similar rows 100,000 different hashes', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 100_000; i++)
      seen.add(fingerprint([{ key: [BigInt(i)], cells: [BigInt(i % 7), `n${i % 11}`] }], 1).sums.join());
    expect(seen.size).toBe(100_000);
  });

  it('has a number of ranges that grows with the number of rows', () => {
    expect([0, 64, 129, 1000, 1e9].map(auditRangeCount)).toEqual([2, 2, 4, 16, MAX_AUDIT_RANGES]);
  });
});
