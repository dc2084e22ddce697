import type { CellValue } from '../change/cell-value.ts';

/** Two 32-bit hashes. The object is reused for every row, because an audit hashes hundreds of thousands of rows. */
export interface RowHash {
  /** The hash of the key, which decides the range of the row. */
  keyHash: number;
  /** The hash of the whole row. */
  low: number;
  high: number;
}

// Two lanes with different seeds and multipliers (odd constants with well-spread bits, from the golden ratio and from
// xxHash), which together are as good as one 64-bit hash. They are not cryptographic: Rockpool writes both sides, and
// an audit looks for accidental differences only.
const SEED_LOW = 0x9e3779b1;
const SEED_HIGH = 0x85ebca77;
const FACTOR_LOW = 0x85ebca6b;
const FACTOR_HIGH = 0xc2b2ae35;

const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BLOB = 4;

const real = new DataView(new ArrayBuffer(8));

/**
 * Hashes a row into `hash`. `cells` are its values outside the key, in the order of `columnIds`, which both sides sort
 * by id. Values are distinguished as in SQLite: `1` is not `1.0`, and `-0.0` equals `0.0`.
 */
export function hashRow(
  hash: RowHash,
  key: readonly CellValue[],
  columnIds: readonly number[],
  cells: readonly CellValue[],
): void {
  hash.low = SEED_LOW;
  hash.high = SEED_HIGH;
  for (const part of key) addValue(hash, part);
  hash.keyHash = finish(hash.low);
  for (let index = 0; index < columnIds.length; index++) {
    addWord(hash, columnIds[index] as number);
    addValue(hash, cells[index] as CellValue);
  }
  hash.low = finish(hash.low);
  hash.high = finish(hash.high ^ hash.low);
}

function addValue(hash: RowHash, value: CellValue): void {
  if (value === null) return addWord(hash, 0);
  if (typeof value === 'string') {
    addWord(hash, TEXT);
    addWord(hash, value.length);
    for (let at = 0; at < value.length; at++) addWord(hash, value.charCodeAt(at));
  } else if (typeof value === 'bigint') {
    addWord(hash, INTEGER);
    addWord(hash, Number(BigInt.asUintN(32, value)));
    addWord(hash, Number(BigInt.asUintN(32, value >> 32n)));
  } else if (typeof value === 'number') {
    addWord(hash, REAL);
    real.setFloat64(0, value + 0); // -0.0 equals 0.0, in SQLite too
    addWord(hash, real.getUint32(0));
    addWord(hash, real.getUint32(4));
  } else {
    addWord(hash, BLOB);
    addWord(hash, value.length);
    for (const byte of value) addWord(hash, byte);
  }
}

function addWord(hash: RowHash, word: number): void {
  const low = Math.imul(hash.low ^ word, FACTOR_LOW);
  hash.low = low ^ (low >>> 15);
  const high = Math.imul(hash.high + word, FACTOR_HIGH);
  hash.high = high ^ (high >>> 13);
}

/** Makes every bit of the input affect every bit of the result. */
function finish(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), FACTOR_LOW);
  mixed = Math.imul(mixed ^ (mixed >>> 13), FACTOR_HIGH);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
