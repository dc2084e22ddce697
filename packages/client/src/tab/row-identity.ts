import type { SqlRow, SqlValue } from '../rpc/sql-value.ts';

/**
 * Gives back `next` with every row that equals a row of `previous` replaced by that object, so that a view which compares by identity draws
 * only what changed. Rows are found at their old distance from the start or the end, or by the value of their first column (mostly the key);
 * where neither finds an equal row the new object stands. Cost: about one comparison a row.
 */
export function keepRowIdentity(previous: readonly SqlRow[], next: readonly SqlRow[]): readonly SqlRow[] {
  const firstColumn = firstColumnOf(next[0]);
  if (firstColumn === null || firstColumn !== firstColumnOf(previous[0])) return next;

  const shift = previous.length - next.length;
  let previousByKey: Map<SqlValue | undefined, SqlRow> | null = null;
  const rows = next.map((row, index) => {
    const fromStart = previous[index];
    if (fromStart !== undefined && rowsEqual(fromStart, row)) return fromStart;
    const fromEnd = previous[index + shift];
    if (fromEnd !== undefined && rowsEqual(fromEnd, row)) return fromEnd;
    previousByKey ??= new Map(previous.map((candidate) => [candidate[firstColumn], candidate]));
    const byKey = previousByKey.get(row[firstColumn]);
    return byKey !== undefined && rowsEqual(byKey, row) ? byKey : row;
  });
  return shift === 0 && rows.every((row, index) => row === previous[index]) ? previous : rows;
}

function firstColumnOf(row: SqlRow | undefined): string | null {
  return row === undefined ? null : (Object.keys(row)[0] ?? null);
}

function rowsEqual(a: SqlRow, b: SqlRow): boolean {
  const columns = Object.keys(b);
  if (Object.keys(a).length !== columns.length) return false;
  return columns.every((column) => Object.hasOwn(a, column) && valuesEqual(a[column], b[column]));
}

function valuesEqual(a: SqlValue | undefined, b: SqlValue | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, index) => byte === b[index]);
  }
  return Object.is(a, b);
}
