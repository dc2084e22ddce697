import type { CellValue } from '../change/cell-value.ts';
import { valueColumns, type TableSchema } from '../schema/schema.ts';
import { hashRow, type RowHash } from './row-hash.ts';

/** The maximum number of ranges per table: with a million rows, a range has about 250 rows. */
export const MAX_AUDIT_RANGES = 4096;

// A repair fetches whole ranges, so ranges are small, but not so small that their hashes outweigh the rows.
const ROWS_PER_RANGE = 64;

/**
 * Fingerprint of a table: numbers that depend on every value and not on the order of the rows. Rows fall into ranges by
 * the hash of their key, and each range has the sum of the hashes of its rows. A hash can be subtracted from a sum, so
 * a changed row costs only two hashes.
 */
export class TableFingerprint {
  /** A power of two. */
  readonly rangeCount: number;
  /** Two sums per range, both modulo 2^32. */
  readonly sums: Uint32Array;
  rowCount = 0;
  private readonly columnIds: readonly number[];
  private readonly hash: RowHash = { keyHash: 0, low: 0, high: 0 };

  constructor(table: TableSchema, rangeCount: number = 1) {
    this.rangeCount = rangeCount;
    this.sums = new Uint32Array(rangeCount * 2);
    this.columnIds = auditedColumnIds(table);
  }

  /** `cells` are in the order of `auditedColumnIds`. */
  add(key: readonly CellValue[], cells: readonly CellValue[]): void {
    this.change(key, cells, 1);
  }

  /** Reverts `add`. */
  subtract(key: readonly CellValue[], cells: readonly CellValue[]): void {
    this.change(key, cells, -1);
  }

  private change(key: readonly CellValue[], cells: readonly CellValue[], sign: 1 | -1): void {
    hashRow(this.hash, key, this.columnIds, cells);
    const at = this.rangeOf(this.hash.keyHash) * 2;
    // A Uint32Array stores the sum modulo 2^32.
    this.sums[at] = (this.sums[at] as number) + sign * this.hash.low;
    this.sums[at + 1] = (this.sums[at + 1] as number) + sign * this.hash.high;
    this.rowCount += sign;
  }

  /** The range of a key. */
  rangeOfKey(key: readonly CellValue[]): number {
    hashRow(this.hash, key, [], []);
    return this.rangeOf(this.hash.keyHash);
  }

  private rangeOf(keyHash: number): number {
    return Math.floor(keyHash / (2 ** 32 / this.rangeCount));
  }
}

/** The ids of the columns that a fingerprint covers, in the order in which both sides hash them. */
export function auditedColumnIds(table: TableSchema): readonly number[] {
  return valueColumns(table)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

/** The ranges in which two fingerprints of one table differ. Both have the same number of ranges. */
export function differingRanges(mine: ArrayLike<number>, theirs: ArrayLike<number>): number[] {
  const ranges: number[] = [];
  for (let at = 0; at < mine.length; at += 2)
    if (mine[at] !== theirs[at] || mine[at + 1] !== theirs[at + 1]) ranges.push(at / 2);
  return ranges;
}

/**
 * The number of ranges for an audit that asks for the differing rows of a table with this many rows. At least two,
 * because an audit with one range asks only whether the tables are the same.
 */
export function auditRangeCount(rowCount: number): number {
  let count = 2;
  while (count < MAX_AUDIT_RANGES && count * ROWS_PER_RANGE < rowCount) count *= 2;
  return count;
}
