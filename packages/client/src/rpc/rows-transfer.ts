import type { SqlRow, SqlValue } from './sql-value.ts';

/*
 * A result crosses from worker to page by column, in buffers that are moved and not copied, unless they are small:
 *
 *   number   one double per row; SQLite's INTEGER and REAL alike, because the API returns both as numbers
 *   text     the UTF-8 of all rows in one run, and for each row where it ends, counted in UTF-16 units: the page
 *            decodes the run with one call and slices it, whether or not it is ASCII
 *   blob     the bytes of all rows in one run, and for each row where they end
 *   null     no buffer
 *   mixed    plain values, for columns whose rows differ in type or hold integers beyond 2^53. Structured clone copies
 *            them
 *
 * `nulls` has bit r % 8 of byte r / 8 set if row r is NULL, and is null if no row is.
 *
 * Slices of a decoded text share its memory: one kept value keeps its whole column.
 */
export type EncodedColumn =
  | { readonly kind: 'null' }
  | {
      readonly kind: 'number';
      readonly values: Float64Array<ArrayBuffer>;
      readonly nulls: Uint8Array<ArrayBuffer> | null;
    }
  | {
      readonly kind: 'text' | 'blob';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly ends: Uint32Array<ArrayBuffer>;
      readonly nulls: Uint8Array<ArrayBuffer> | null;
    }
  | { readonly kind: 'mixed'; readonly values: readonly SqlValue[] };

/**
 * The result of one query as plain data that can be posted between threads. `columns[c]` holds the values of the column
 * `names[c]`.
 */
export interface EncodedRows {
  readonly names: readonly string[];
  readonly columns: readonly EncodedColumn[];
  readonly rowCount: number;
}

/**
 * Smaller buffers are copied: Chromium takes 2 to 3 µs to move a buffer, and less to copy one up to this size. Most
 * results of an app are one row or a few.
 */
const LEAST_MOVED_BYTES = 1024;

/**
 * The buffers to transfer when the result is posted; the sender can no longer read them afterwards. Small ones are not
 * included.
 */
export function rowsTransferables(rows: EncodedRows): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  const move = (array: Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | null): void => {
    if (array !== null && array.byteLength >= LEAST_MOVED_BYTES) buffers.push(array.buffer);
  };
  for (const column of rows.columns) {
    if (column.kind === 'null' || column.kind === 'mixed') continue;
    if (column.kind === 'number') move(column.values);
    else {
      move(column.bytes);
      move(column.ends);
    }
    move(column.nulls);
  }
  return buffers;
}

/**
 * Creates one plain object per row, with properties in column order. Of two columns with the same name, the later wins.
 */
export function decodeRows(encoded: EncodedRows): SqlRow[] {
  const { names, rowCount } = encoded;
  const columns = encoded.columns.map((column) => decodeColumn(column, rowCount));
  const columnCount = columns.length;
  // Copies of one template share their shape, which halves the cost compared with filling empty objects. Properties are
  // defined, not assigned, so that a column may be named `__proto__`.
  const template: SqlRow = {};
  for (const name of names)
    Object.defineProperty(template, name, { value: null, writable: true, enumerable: true, configurable: true });
  const rows = new Array<SqlRow>(rowCount);
  for (let r = 0; r < rowCount; r++) {
    const row = { ...template };
    for (let c = 0; c < columnCount; c++) row[names[c] as string] = (columns[c] as SqlValue[])[r] as SqlValue;
    rows[r] = row;
  }
  return rows;
}

// `ignoreBOM`: keeps a leading U+FEFF as part of the text.
const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The values of one column, row by row. */
export function decodeColumn(column: EncodedColumn, rowCount: number): SqlValue[] {
  const values = new Array<SqlValue>(rowCount);
  switch (column.kind) {
    case 'null':
      return values.fill(null);
    case 'mixed':
      return [...column.values];
    case 'number':
      for (let r = 0; r < rowCount; r++) values[r] = column.values[r] as number;
      break;
    case 'text': {
      const text = textDecoder.decode(column.bytes);
      let start = 0;
      for (let r = 0; r < rowCount; r++) {
        const end = column.ends[r] as number;
        values[r] = text.slice(start, end);
        start = end;
      }
      break;
    }
    case 'blob': {
      let start = 0;
      for (let r = 0; r < rowCount; r++) {
        const end = column.ends[r] as number;
        values[r] = column.bytes.slice(start, end);
        start = end;
      }
    }
  }
  fillNulls(values, column.nulls, null);
  return values;
}

/** Sets the rows that are NULL to `value`. */
export function fillNulls<Value>(
  values: { readonly length: number; [row: number]: Value },
  nulls: Uint8Array | null,
  value: Value,
): void {
  if (nulls === null) return;
  for (let row = 0; row < values.length; row++)
    if (((nulls[row >> 3] as number) & (1 << (row & 7))) !== 0) values[row] = value;
}
