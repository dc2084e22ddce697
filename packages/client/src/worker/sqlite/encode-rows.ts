import { RockpoolError } from '@rockpool/shared';
import { decodeColumn, type EncodedColumn, type EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import { SQLITE_BLOB, SQLITE_FLOAT, SQLITE_INTEGER, SQLITE_TEXT } from './result-codes.ts';
import type { Statement } from './statement.ts';
import { copyUtf8 } from './utf8-copy.ts';
import type { WasmMemory } from './wasm-memory.ts';

/**
 * Limit of a result in bytes. A larger one cannot be decoded as one string per column, and would not fit beside SQLite
 * in a phone's memory.
 */
export const MAX_RESULT_BYTES: number = 256 * 1024 * 1024;

// The number of elements that V8 stores with the array itself: most results have one row and need no other memory.
const INITIAL_ROWS = 8;

/**
 * Runs a bound statement to its end, copies its rows column by column out of SQLite's memory, and resets the statement.
 * Throws `query-invalid` when the result is larger than MAX_RESULT_BYTES.
 */
export function encodeRows(statement: Statement, memory: WasmMemory): EncodedRows {
  const encoder = new RowsEncoder(statement, memory);
  encoder.take(Number.POSITIVE_INFINITY);
  return encoder.finish();
}

// Reading the clock costs as much as a few rows.
const ROWS_PER_CHECK = 64;

/**
 * Like `encodeRows` for the next rows, until `isEnough`, which is called now and then, returns true. Resets the
 * statement at the end.
 */
export function encodeSomeRows(
  statement: Statement,
  memory: WasmMemory,
  isEnough: (rowCount: number) => boolean,
): { readonly rows: EncodedRows; readonly isEnd: boolean } {
  const encoder = new RowsEncoder(statement, memory);
  let isEnd = false;
  do isEnd = !encoder.take(ROWS_PER_CHECK);
  while (!isEnd && !isEnough(encoder.rowCount));
  return { rows: encoder.finish(), isEnd };
}

/** Encodes rows in parts. */
export class RowsEncoder {
  private readonly statement: Statement;
  private readonly memory: WasmMemory;
  private names: readonly string[] | null = null;
  private columns: readonly ColumnBuilder[] = [];
  /** The number of rows so far. */
  rowCount = 0;

  constructor(statement: Statement, memory: WasmMemory) {
    this.statement = statement;
    this.memory = memory;
  }

  /**
   * Encodes up to `maxRows` more rows. Returns false at the end. Resets the statement then, and when it throws
   * `query-invalid`.
   */
  take(maxRows: number): boolean {
    const { statement } = this;
    let stepped = statement.step();
    this.names ??= this.start();
    const { columns } = this;
    const columnCount = columns.length;
    for (let left = maxRows; stepped; stepped = statement.step()) {
      let sizeBytes = 0;
      for (let c = 0; c < columnCount; c++) {
        const column = columns[c] as ColumnBuilder;
        column.append(statement, c, this.rowCount);
        sizeBytes += column.sizeBytes;
      }
      this.rowCount++;
      if (sizeBytes > MAX_RESULT_BYTES) {
        statement.reset();
        throw new RockpoolError('query-invalid', {
          problem: 'result too large',
          maxBytes: MAX_RESULT_BYTES,
          rows: this.rowCount,
        });
      }
      if (--left === 0) return true;
    }
    statement.reset();
    return false;
  }

  finish(): EncodedRows {
    return {
      names: this.names ?? [],
      columns: this.columns.map((column) => column.finish(this.rowCount)),
      rowCount: this.rowCount,
    };
  }

  /** Called after the first step, which may recompile the statement: `*` can then mean other columns. */
  private start(): readonly string[] {
    const names = this.statement.columnNames();
    this.columns = names.map(() => new ColumnBuilder(this.memory));
    return names;
  }
}

type Kind = EncodedColumn['kind'];

/**
 * Starts as a column of NULLs, takes the type of the first other value, and falls back to plain values when a value of
 * another type follows.
 */
class ColumnBuilder {
  private readonly memory: WasmMemory;
  private kind: Kind = 'null';
  private numbers: Float64Array<ArrayBuffer> = new Float64Array(0);
  private ends: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private byteCount = 0;
  private unitCount = 0;
  private nulls: Uint8Array<ArrayBuffer> | null = null;
  private plain: SqlValue[] = [];

  constructor(memory: WasmMemory) {
    this.memory = memory;
  }

  get sizeBytes(): number {
    return this.byteCount + this.numbers.byteLength + this.ends.byteLength + this.plain.length * 8;
  }

  append(statement: Statement, column: number, row: number): void {
    if (this.kind === 'mixed') {
      this.plain.push(statement.readValue(column));
      return;
    }
    switch (statement.columnType(column)) {
      case SQLITE_INTEGER:
      case SQLITE_FLOAT:
        this.appendNumber(statement, column, row);
        break;
      case SQLITE_TEXT:
        this.appendText(statement, column, row);
        break;
      case SQLITE_BLOB:
        this.appendBlob(statement, column, row);
        break;
      default:
        this.appendNull(row);
    }
  }

  private appendNumber(statement: Statement, column: number, row: number): void {
    if (!this.become('number', row)) return this.appendMixed(statement, column, row);
    const value = statement.readNumber(column);
    if (value === null) return this.appendMixed(statement, column, row);
    if (row >= this.numbers.length) this.numbers = grown(this.numbers, row + 1, Float64Array);
    this.numbers[row] = value;
  }

  private appendText(statement: Statement, column: number, row: number): void {
    if (!this.become('text', row)) return this.appendMixed(statement, column, row);
    const address = statement.textAddress(column);
    const sizeBytes = statement.byteLength(column);
    this.reserve(sizeBytes);
    const units = copyUtf8(this.memory.bytes, address, sizeBytes, this.bytes, this.byteCount);
    if (units >= 0) {
      this.byteCount += sizeBytes;
      this.unitCount += units;
    } else {
      // Text that is not UTF-8 comes only from SQL such as CAST(x'ff' AS TEXT). It is decoded here as the page would
      // decode it, so that the end offsets are right.
      const text = this.memory.readText(address, sizeBytes);
      const bytes = new TextEncoder().encode(text);
      this.reserve(bytes.length);
      this.bytes.set(bytes, this.byteCount);
      this.byteCount += bytes.length;
      this.unitCount += text.length;
    }
    this.setEnd(row, this.unitCount);
  }

  private appendBlob(statement: Statement, column: number, row: number): void {
    if (!this.become('blob', row)) return this.appendMixed(statement, column, row);
    const address = statement.blobAddress(column);
    const sizeBytes = statement.byteLength(column);
    this.reserve(sizeBytes);
    this.bytes.set(this.memory.bytes.subarray(address, address + sizeBytes), this.byteCount);
    this.byteCount += sizeBytes;
    this.setEnd(row, this.byteCount);
  }

  private appendNull(row: number): void {
    if (this.kind === 'null') return;
    this.setNull(row);
    if (this.kind !== 'number') this.setEnd(row, this.kind === 'text' ? this.unitCount : this.byteCount);
  }

  /** Returns whether the column has this kind, or takes it now. */
  private become(kind: 'number' | 'text' | 'blob', row: number): boolean {
    if (this.kind === kind) return true;
    if (this.kind !== 'null') return false;
    this.kind = kind;
    if (kind !== 'number' && row > 0) this.setEnd(row - 1, 0);
    for (let earlier = 0; earlier < row; earlier++) this.setNull(earlier);
    return true;
  }

  private appendMixed(statement: Statement, column: number, row: number): void {
    this.plain = decodeColumn(this.finish(row), row);
    this.kind = 'mixed';
    this.byteCount = 0;
    this.plain.push(statement.readValue(column));
  }

  private setNull(row: number): void {
    const needed = (row >> 3) + 1;
    if (this.nulls === null || this.nulls.length < needed)
      this.nulls = grown(this.nulls ?? new Uint8Array(0), needed, Uint8Array);
    this.nulls[row >> 3] = (this.nulls[row >> 3] as number) | (1 << (row & 7));
  }

  private setEnd(row: number, end: number): void {
    if (row >= this.ends.length) this.ends = grown(this.ends, row + 1, Uint32Array);
    this.ends[row] = end;
  }

  private reserve(sizeBytes: number): void {
    const needed = this.byteCount + sizeBytes;
    if (needed > this.bytes.length) this.bytes = grown(this.bytes, needed, Uint8Array);
  }

  finish(rowCount: number): EncodedColumn {
    const { kind } = this;
    if (kind === 'null') return { kind };
    if (kind === 'mixed') return { kind, values: this.plain };
    const nullBytes = (rowCount + 7) >> 3;
    // Bits beyond those set are 0, so a shorter bitmap is extended with zeros.
    const nulls = this.nulls === null ? null : exactly(this.nulls, nullBytes, Uint8Array);
    if (kind === 'number') return { kind, values: exactly(this.numbers, rowCount, Float64Array), nulls };
    return { kind, bytes: this.bytes.slice(0, this.byteCount), ends: exactly(this.ends, rowCount, Uint32Array), nulls };
  }
}

type NumericArray = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

function grown<T extends NumericArray>(array: T, needed: number, create: new (length: number) => T): T {
  const larger = new create(Math.max(needed, array.length * 2, INITIAL_ROWS));
  larger.set(array);
  return larger;
}

function exactly<T extends NumericArray>(array: T, length: number, create: new (length: number) => T): T {
  if (array.length === length) return array;
  const exact = new create(length);
  exact.set(array.length < length ? array : (array.subarray(0, length) as T));
  return exact;
}
