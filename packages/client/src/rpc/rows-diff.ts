import { decodeRows, rowsTransferables, type EncodedRows } from './rows-transfer.ts';
import type { SqlRow } from './sql-value.ts';

/** A result, described by the rows that it shares with the previous result. */
export interface RowsDiff {
  /**
   * Pairs of numbers in the order of the new result: the start of a run of rows in the previous result, and its length.
   * A run that starts at -1 takes the next rows of `added`.
   */
  readonly runs: Int32Array<ArrayBuffer>;
  readonly added: EncodedRows;
}

/** Keeps the objects of unchanged rows, so that a view that compares by identity redraws only what changed. */
export function applyDiff(before: readonly SqlRow[], { runs, added }: RowsDiff): readonly SqlRow[] {
  const fresh = decodeRows(added);
  const rows: SqlRow[] = [];
  let taken = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const start = runs[i] as number;
    const count = runs[i + 1] as number;
    const source = start < 0 ? fresh : before;
    const first = start < 0 ? taken : start;
    for (let offset = 0; offset < count; offset++) rows.push(source[first + offset] as SqlRow);
    if (start < 0) taken += count;
  }
  return rows;
}

/** The buffers to transfer when the diff is posted. */
export function diffTransferables({ runs, added }: RowsDiff): ArrayBuffer[] {
  return [runs.buffer, ...rowsTransferables(added)];
}
