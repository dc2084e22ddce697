import type { EncodedColumn, EncodedRows } from '../../rpc/rows-transfer.ts';

/** Whether two results are the same, value by value and type by type, without decoding them. */
export function rowsEqual(a: EncodedRows, b: EncodedRows): boolean {
  return (
    a.rowCount === b.rowCount &&
    a.names.length === b.names.length &&
    a.names.every((name, index) => name === b.names[index]) &&
    a.columns.every((column, index) => columnsEqual(column, b.columns[index]))
  );
}

function columnsEqual(a: EncodedColumn, b: EncodedColumn | undefined): boolean {
  if (b === undefined) return false;
  switch (a.kind) {
    case 'null':
      return b.kind === 'null';
    case 'number':
      return b.kind === 'number' && bytesEqual(a.values, b.values) && bytesEqual(a.nulls, b.nulls);
    case 'text':
    case 'blob':
      return b.kind === a.kind && bytesEqual(a.ends, b.ends) && bytesEqual(a.nulls, b.nulls) && bytesEqual(a.bytes, b.bytes);
    case 'mixed':
      return b.kind === 'mixed' && a.values.every((value, index) => valuesEqual(value, b.values[index]));
  }
}

function valuesEqual(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? bytesEqual(a, b) : Object.is(a, b);
}

/** Compares what is stored, so that 0 and -0 differ, as they do for the page. */
function bytesEqual(a: ArrayBufferView | null, b: ArrayBufferView | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.byteLength !== b.byteLength) return false;
  const aBytes = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
  const bBytes = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
  for (let i = 0; i < aBytes.length; i++) if (aBytes[i] !== bBytes[i]) return false;
  return true;
}
