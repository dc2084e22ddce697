import type { CellValue } from '../change/cell-value.ts';
import { valueColumns, type TableSchema } from '../schema/schema.ts';
import { hashRow, type RowHash } from './row-hash.ts';

/** Ranges of one table at most: a million rows are then 250 each. */
export const MAX_AUDIT_RANGES = 4096;

// What is repaired is fetched by whole ranges: small ones, but not so small that their hashes cost more than the rows.
const ROWS_PER_RANGE = 64;

/**
 * What a table holds, as numbers that depend on every value in it and not on the order of rows: for each range the sum
 * of the hashes of its rows. A range is the rows whose key's hash falls into it. Sums can be taken apart again, so that
 * a row that changed costs two hashes.
 */
export class TableFingerprint {
  /** A power of two. */
  readonly rangeCount: number;
  /** Two for each range, both modulo 2^32. */
  readonly sums: Uint32Array;
  rowCount = 0;
  private readonly columnIds: readonly number[];
  private readonly hash: RowHash = { keyHash: 0, low: 0, high: 0 };

  constructor(table: TableSchema, rangeCount: number = 1) {
    this.rangeCount = rangeCount;
    this.sums = new Uint32Array(rangeCount * 2);
    this.columnIds = auditedColumnIds(table);
  }

  /** `cells` in the order of `auditedColumnIds`. */
  add(key: readonly CellValue[], cells: readonly CellValue[]): void {
    this.change(key, cells, 1);
  }

  /** Takes back what `add` added. */
  subtract(key: readonly CellValue[], cells: readonly CellValue[]): void {
    this.change(key, cells, -1);
  }

  private change(key: readonly CellValue[], cells: readonly CellValue[], sign: 1 | -1): void {
    hashRow(this.hash, key, this.columnIds, cells);
    const at = this.rangeOf(this.hash.keyHash) * 2;
    // A Uint32Array keeps what is left modulo 2^32.
    this.sums[at] = (this.sums[at] as number) + sign * this.hash.low;
    this.sums[at + 1] = (this.sums[at + 1] as number) + sign * this.hash.high;
    this.rowCount += sign;
  }

  /** The range that a key belongs to. */
  rangeOfKey(key: readonly CellValue[]): number {
    hashRow(this.hash, key, [], []);
    return this.rangeOf(this.hash.keyHash);
  }

  private rangeOf(keyHash: number): number {
    return Math.floor(keyHash / (2 ** 32 / this.rangeCount));
  }
}

/** The columns that fingerprints cover, in the order in which both sides hash them. */
export function auditedColumnIds(table: TableSchema): readonly number[] {
  return valueColumns(table)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

/** The ranges in which two fingerprints of one table differ, both divided alike. */
export function differingRanges(mine: ArrayLike<number>, theirs: ArrayLike<number>): number[] {
  const ranges: number[] = [];
  for (let at = 0; at < mine.length; at += 2)
    if (mine[at] !== theirs[at] || mine[at + 1] !== theirs[at + 1]) ranges.push(at / 2);
  return ranges;
}

/**
 * In how many ranges to look for what differs in a table of so many rows; at least two, which is what asks for the
 * rows.
 */
export function auditRangeCount(rowCount: number): number {
  let count = 2;
  while (count < MAX_AUDIT_RANGES && count * ROWS_PER_RANGE < rowCount) count *= 2;
  return count;
}
