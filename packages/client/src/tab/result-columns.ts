import type { ResultColumns } from '../interface/writes.ts';
import { decodeColumn, fillNulls, type EncodedColumn, type EncodedRows } from '../rpc/rows-transfer.ts';
import type { SqlValue } from '../rpc/sql-value.ts';

export function toResultColumns({ names, columns, rowCount }: EncodedRows): ResultColumns {
  // A column may be named `__proto__`, which is an ordinary property only of an object without a prototype.
  const byName = Object.create(null) as Record<string, Float64Array | readonly SqlValue[]>;
  columns.forEach((column, index) => {
    byName[names[index] as string] = column.kind === 'number' ? numbersOf(column) : decodeColumn(column, rowCount);
  });
  return { rowCount, columns: byName };
}

/** The received values; they are not copied. */
function numbersOf({ values, nulls }: Extract<EncodedColumn, { kind: 'number' }>): Float64Array {
  fillNulls(values, nulls, Number.NaN);
  return values;
}
