import type { SqlRow, SqlValue } from './sql-value.ts';

/*
 * A result crosses from worker to page by column, in buffers that are moved and not copied, unless they are small:
 *
 *   number   one double per row; SQLite's INTEGER and REAL alike, as the API gives both as numbers
 * text     the UTF-8 of all rows in one run, and for each row where it ends, counted in UTF-16 units: the page decodes
 *   the run with one
 *            call and slices it, whether or not it is ASCII
 *   blob     the bytes of all rows in one run, and for each row where they end
 *   null     no buffer at all
 * mixed    plain values, for columns whose rows differ in type or hold integers beyond 2^53: these are copied by
 *   structured clone
 *
 * `nulls` has bit r % 8 of byte r / 8 set where row r is NULL, and is null when no row is.
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
 * The result of one query: plain data that can be posted between threads. `columns[c]` holds the values named
 * `names[c]`.
 */
export interface EncodedRows {
  readonly names: readonly string[];
  readonly columns: readonly EncodedColumn[];
  readonly rowCount: number;
}

/**
 * Moving a buffer takes Chromium 2 to 3 µs, copying one up to this size less: most results of an app are a row or a
 * few.
 */
const LEAST_MOVED_BYTES = 1024;

/**
 * The buffers to move when this is posted; afterwards the sender can no longer read it. Small ones are not among them.
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
 * One plain object per row, its properties in the order of the columns. Of two columns with one name the later wins.
 */
export function decodeRows(encoded: EncodedRows): SqlRow[] {
  const { names, rowCount } = encoded;
  const columns = encoded.columns.map((column) => decodeColumn(column, rowCount));
  const columnCount = columns.length;
  // Copies of one template share their shape, which makes them half as expensive as objects filled from empty. Defining
  // the properties, not assigning them, lets a column have the name `__proto__`.
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

// `ignoreBOM`: a leading U+FEFF is part of the text, not a mark to drop.
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
  const { nulls } = column;
  if (nulls !== null)
    for (let r = 0; r < rowCount; r++) if (((nulls[r >> 3] as number) & (1 << (r & 7))) !== 0) values[r] = null;
  return values;
}
