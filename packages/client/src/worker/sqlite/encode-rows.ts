import { RockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import { joinParts } from './join-parts.ts';
import type { Statement } from './statement.ts';
import type { StoredPart } from './stored-rows.ts';

/**
 * The maximum size of a result in bytes. A larger one cannot be decoded as one string per column, and would not fit
 * beside SQLite in a phone's memory.
 */
export const MAX_RESULT_BYTES: number = 256 * 1024 * 1024;

/**
 * Runs a bound statement to its end, copies its rows column by column out of SQLite's memory, and resets the statement.
 * Throws `query-invalid` when the result is larger than MAX_RESULT_BYTES.
 */
export function encodeRows(statement: Statement): EncodedRows {
  const encoder = new RowsEncoder(statement);
  encoder.take(Number.POSITIVE_INFINITY);
  return encoder.finish();
}

// Reading the clock costs as much as a few rows.
const ROWS_PER_CHECK = 64;

/**
 * Encodes the next rows until `isEnough`, which is called every ROWS_PER_CHECK rows, returns true. Resets the statement
 * after its last row.
 */
export function encodeSomeRows(
  statement: Statement,
  isEnough: (rowCount: number) => boolean,
): { readonly rows: EncodedRows; readonly isEnd: boolean } {
  const encoder = new RowsEncoder(statement);
  let isEnd = false;
  do isEnd = !encoder.take(ROWS_PER_CHECK);
  while (!isEnd && !isEnough(encoder.rowCount));
  return { rows: encoder.finish(), isEnd };
}

/**
 * Encodes rows in parts. The newest rows stay in SQLite's memory until another encoder needs the space or there are too
 * many of them.
 */
export class RowsEncoder {
  private readonly statement: Statement;
  private names: readonly string[] | null = null;
  private readonly parts: StoredPart[] = [];
  private partRows = 0;
  private partBytes = 0;

  constructor(statement: Statement) {
    this.statement = statement;
  }

  /** The number of rows so far. */
  get rowCount(): number {
    const { storedRows } = this.statement;
    return this.partRows + (storedRows.belongTo(this) ? storedRows.rowCount : 0);
  }

  /**
   * Encodes up to `maxRows` more rows. Returns false at the end. Resets the statement then, and when it throws
   * `query-invalid`.
   */
  take(maxRows: number): boolean {
    const { statement } = this;
    const { storedRows } = statement;
    const target = this.rowCount + maxRows;
    for (;;) {
      const isFirst = !storedRows.belongTo(this);
      storedRows.own(this);
      const result = statement.storeRows(isFirst, Math.min(target - this.knownRows(isFirst), 0xffff_ffff));
      if (result === 'too-large') throw this.tooLarge();
      this.names ??= statement.storedNames();
      if (result === 'full') this.releaseRows();
      else if (result === 'end') statement.reset();
      if (result !== 'full') return result === 'more';
      if (this.partRows >= target) return true;
    }
  }

  /** The rows, in one piece. */
  finish(): EncodedRows {
    this.releaseRows();
    return { names: this.names ?? [], columns: joinParts(this.parts), rowCount: this.partRows };
  }

  /** Copies this encoder's rows out of SQLite's memory. Throws `query-invalid` when there are too many. */
  releaseRows(): void {
    const { storedRows } = this.statement;
    if (!storedRows.belongTo(this)) return;
    const part = storedRows.read();
    storedRows.release();
    this.parts.push(part);
    this.partRows += part.rowCount;
    for (const column of part.columns) {
      if (column.kind === 'number') this.partBytes += column.values.byteLength;
      else if (column.kind === 'mixed') this.partBytes += column.values.length * 8;
      else if (column.kind !== 'null') this.partBytes += column.bytes.byteLength + column.ends.byteLength;
    }
    if (this.partBytes > MAX_RESULT_BYTES) throw this.tooLarge();
  }

  private knownRows(isFirst: boolean): number {
    return isFirst ? this.partRows : this.rowCount;
  }

  private tooLarge(): RockpoolError {
    this.statement.storedRows.release();
    this.statement.reset();
    return new RockpoolError('query-invalid', {
      problem: 'the result is too large',
      maxBytes: MAX_RESULT_BYTES,
      rows: this.rowCount,
    });
  }
}
