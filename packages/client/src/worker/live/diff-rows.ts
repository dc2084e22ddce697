import type { EncodedColumn, EncodedRows } from '../../rpc/rows-transfer.ts';
import type { RowsDiff } from '../../rpc/rows-diff.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';

/**
 * The rows that a result shares with the previous one, found without decoding either: first the rows at both ends,
 * because most changes are small, then those between by a hash of their values, so that a changed order sends no rows.
 * Equal rows are interchangeable.
 */
export function diffRows(before: EncodedRows, after: EncodedRows): RowsDiff {
  if (areSameBytes(before, after))
    return {
      runs: Int32Array.from(after.rowCount === 0 ? [] : [0, after.rowCount]),
      added: { ...NO_ROWS, names: after.names },
    };
  const old = new RowReader(haveSameColumns(before, after) ? before : NO_ROWS);
  const next = new RowReader(after);
  const shorter = Math.min(old.rowCount, next.rowCount);
  let head = 0;
  while (head < shorter && next.equals(head, old, head)) head++;
  let tail = 0;
  while (tail < shorter - head && next.equals(next.rowCount - 1 - tail, old, old.rowCount - 1 - tail)) tail++;

  const origins = new Origins(old, head, old.rowCount - tail);
  const runs: number[] = [];
  const added: number[] = [];
  addRun(runs, 0, head);
  for (let row = head; row < next.rowCount - tail; row++) {
    const origin = origins.take(next, row);
    if (origin < 0) added.push(row);
    addRun(runs, origin, 1);
  }
  addRun(runs, old.rowCount - tail, tail);
  return { runs: Int32Array.from(runs), added: added.length === next.rowCount ? after : pickRows(after, next, added) };
}

/** Whether a diff is empty. */
export function isUnchanged({ runs, added }: RowsDiff, before: EncodedRows): boolean {
  if (added.rowCount > 0) return false;
  return before.rowCount === 0 ? runs.length === 0 : runs.length === 2 && runs[0] === 0 && runs[1] === before.rowCount;
}

/**
 * Whether two results have equal bytes, as they do after most runs that change nothing. False for results with plain
 * values, which are compared row by row.
 */
function areSameBytes(before: EncodedRows, after: EncodedRows): boolean {
  return (
    before.rowCount === after.rowCount &&
    haveSameColumns(before, after) &&
    before.columns.every((column, index) => isSameColumn(column, after.columns[index] as EncodedColumn))
  );
}

function isSameColumn(a: EncodedColumn, b: EncodedColumn): boolean {
  if (a.kind === 'null') return b.kind === 'null';
  if (a.kind === 'mixed' || b.kind === 'mixed' || b.kind === 'null' || !areEqual(a.nulls, b.nulls)) return false;
  if (a.kind === 'number') return b.kind === 'number' && areEqual(bytesOf(a.values), bytesOf(b.values));
  return a.kind === b.kind && areEqual(a.ends, b.ends) && areEqual(a.bytes, b.bytes);
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function areEqual(a: Uint8Array | Uint32Array | null, b: Uint8Array | Uint32Array | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const NO_ROWS: EncodedRows = { names: [], columns: [], rowCount: 0 };

function haveSameColumns(a: EncodedRows, b: EncodedRows): boolean {
  return a.names.length === b.names.length && a.names.every((name, index) => name === b.names[index]);
}

/** Appends a run, or extends the last run if the new one continues it. Added rows continue added rows. */
function addRun(runs: number[], start: number, count: number): void {
  if (count === 0) return;
  const lastStart = runs.at(-2);
  const lastCount = runs.at(-1);
  if (
    lastStart !== undefined &&
    lastCount !== undefined &&
    (start < 0 ? lastStart < 0 : lastStart >= 0 && lastStart + lastCount === start)
  ) {
    runs[runs.length - 1] = lastCount + count;
  } else runs.push(start, count);
}

/** Finds the rows in a range of the previous result by their values. Each row is taken only once. */
class Origins {
  private readonly reader: RowReader;
  private readonly rowsByHash = new Map<number, number[]>();

  constructor(reader: RowReader, from: number, to: number) {
    this.reader = reader;
    // Fills from the end, so that the first of equal rows is taken first.
    for (let row = to - 1; row >= from; row--) {
      const hash = reader.hash(row);
      const rows = this.rowsByHash.get(hash);
      if (rows === undefined) this.rowsByHash.set(hash, [row]);
      else rows.push(row);
    }
  }

  /** -1 if there is no equal row. */
  take(next: RowReader, row: number): number {
    if (this.rowsByHash.size === 0) return -1;
    const rows = this.rowsByHash.get(next.hash(row)) ?? [];
    for (let i = rows.length - 1; i >= 0; i--) {
      const candidate = rows[i] as number;
      if (!next.equals(row, this.reader, candidate)) continue;
      rows.splice(i, 1);
      return candidate;
    }
    return -1;
  }
}

// FNV-1a, 32 bits: cheap, and a collision costs a comparison.
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** Reads single rows of an encoded result. */
class RowReader {
  readonly rowCount: number;
  readonly columns: readonly ColumnReader[];

  constructor({ columns, rowCount }: EncodedRows) {
    this.rowCount = rowCount;
    this.columns = columns.map((column) => new ColumnReader(column, rowCount));
  }

  equals(row: number, other: RowReader, otherRow: number): boolean {
    return this.columns.every((column, index) => column.equals(row, other.columns[index] as ColumnReader, otherRow));
  }

  hash(row: number): number {
    let hash = HASH_START;
    for (const column of this.columns) hash = column.hash(row, hash);
    return hash;
  }
}

class ColumnReader {
  readonly column: EncodedColumn;
  /** For text and blobs: the end of each value, in bytes. */
  readonly byteEnds: Uint32Array;
  private readonly numberBytes: Uint8Array;

  constructor(column: EncodedColumn, rowCount: number) {
    this.column = column;
    this.byteEnds =
      column.kind === 'text'
        ? utf8Ends(column.bytes, column.ends, rowCount)
        : column.kind === 'blob'
          ? column.ends
          : new Uint32Array(0);
    this.numberBytes = column.kind === 'number' ? bytesOf(column.values) : new Uint8Array(0);
  }

  equals(row: number, other: ColumnReader, otherRow: number): boolean {
    const a = this.column;
    const b = other.column;
    const isNull = this.isNull(row);
    if (isNull !== other.isNull(otherRow)) return false;
    if (isNull) return true;
    if (a.kind === 'mixed' || b.kind === 'mixed') return valuesEqual(this.value(row), other.value(otherRow));
    if (a.kind !== b.kind) return false;
    const mine = this.bytesOf(row);
    const theirs = other.bytesOf(otherRow);
    if (mine.length !== theirs.length) return false;
    for (let i = 0; i < mine.length; i++)
      if (mine.bytes[mine.start + i] !== theirs.bytes[theirs.start + i]) return false;
    return true;
  }

  /**
   * Rows of a mixed column and of a column of one type have different hashes: when a column becomes mixed, the rows
   * between the ends are sent again once.
   */
  hash(row: number, hash: number): number {
    if (this.isNull(row)) return Math.imul(hash ^ 0xff, HASH_FACTOR);
    if (this.column.kind === 'mixed') return Math.imul(hash ^ 0xfe, HASH_FACTOR);
    const { bytes, start, length } = this.bytesOf(row);
    for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ (bytes[i] as number), HASH_FACTOR);
    return hash;
  }

  private isNull(row: number): boolean {
    const { column } = this;
    if (column.kind === 'null') return true;
    if (column.kind === 'mixed') return column.values[row] === null;
    return column.nulls !== null && ((column.nulls[row >> 3] as number) & (1 << (row & 7))) !== 0;
  }

  /** Reads a value of a column of one type. */
  bytesOf(row: number): { readonly bytes: Uint8Array; readonly start: number; readonly length: number } {
    const { column } = this;
    if (column.kind === 'number') return { bytes: this.numberBytes, start: row * 8, length: 8 };
    if (column.kind !== 'text' && column.kind !== 'blob') return { bytes: this.numberBytes, start: 0, length: 0 };
    const start = row === 0 ? 0 : (this.byteEnds[row - 1] as number);
    return { bytes: column.bytes, start, length: (this.byteEnds[row] as number) - start };
  }

  private value(row: number): SqlValue {
    const { column } = this;
    if (column.kind === 'mixed') return column.values[row] as SqlValue;
    if (column.kind === 'number') return column.values[row] as number;
    const { bytes, start, length } = this.bytesOf(row);
    const value = bytes.subarray(start, start + length);
    return column.kind === 'text' ? textDecoder.decode(value) : value;
  }
}

const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The byte offset of the end of each value in a text column; `ends` counts UTF-16 units, which are equal if the column
 * is all ASCII.
 */
function utf8Ends(bytes: Uint8Array, ends: Uint32Array, rowCount: number): Uint32Array {
  if (rowCount === 0 || ends[rowCount - 1] === bytes.length) return ends;
  const byteEnds = new Uint32Array(rowCount);
  let at = 0;
  let units = 0;
  for (let row = 0; row < rowCount; row++) {
    const end = ends[row] as number;
    while (units < end) {
      const lead = bytes[at] as number;
      at += lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      units += lead < 0xf0 ? 1 : 2;
    }
    byteEnds[row] = at;
  }
  return byteEnds;
}

function valuesEqual(a: SqlValue, b: SqlValue): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return a.length === b.length && a.every((byte, index) => byte === b[index]);
  return Object.is(a, b);
}

/** Returns a result with some of the rows of a given result. */
function pickRows({ names, columns }: EncodedRows, reader: RowReader, rows: readonly number[]): EncodedRows {
  return {
    names,
    columns: columns.map((column, index) => pickValues(column, reader.columns[index] as ColumnReader, rows)),
    rowCount: rows.length,
  };
}

function pickValues(column: EncodedColumn, reader: ColumnReader, rows: readonly number[]): EncodedColumn {
  switch (column.kind) {
    case 'null':
      return column;
    case 'mixed':
      return { kind: 'mixed', values: rows.map((row) => column.values[row] as SqlValue) };
    case 'number':
      return {
        kind: 'number',
        values: Float64Array.from(rows, (row) => column.values[row] as number),
        nulls: pickNulls(column.nulls, rows),
      };
    case 'text':
    case 'blob': {
      const pieces = rows.map((row) => reader.bytesOf(row));
      const bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
      const ends = new Uint32Array(rows.length);
      let at = 0;
      let units = 0;
      rows.forEach((row, index) => {
        const { bytes: source, start, length } = pieces[index] as (typeof pieces)[number];
        bytes.set(source.subarray(start, start + length), at);
        at += length;
        units += (column.ends[row] as number) - (row === 0 ? 0 : (column.ends[row - 1] as number));
        ends[index] = units;
      });
      return { kind: column.kind, bytes, ends, nulls: pickNulls(column.nulls, rows) };
    }
  }
}

function pickNulls(nulls: Uint8Array | null, rows: readonly number[]): Uint8Array<ArrayBuffer> | null {
  if (nulls === null) return null;
  const picked = new Uint8Array((rows.length + 7) >> 3);
  rows.forEach((row, index) => {
    if (((nulls[row >> 3] as number) & (1 << (row & 7))) !== 0)
      picked[index >> 3] = (picked[index >> 3] as number) | (1 << (index & 7));
  });
  return picked;
}
