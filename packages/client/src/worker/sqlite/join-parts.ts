import { decodeColumn, type EncodedColumn } from '../../rpc/rows-transfer.ts';
import type { StoredPart } from './stored-rows.ts';

/** The columns of consecutive parts of one result, as if it had been encoded in one. */
export function joinParts(parts: readonly StoredPart[]): readonly EncodedColumn[] {
  const [first, second] = parts;
  if (first === undefined || second === undefined) return first?.columns ?? [];
  return first.columns.map((_, c) => joinColumn(parts, c));
}

function joinColumn(parts: readonly StoredPart[], c: number): EncodedColumn {
  const columns = parts.map((part) => part.columns[c] as EncodedColumn);
  const kinds = new Set(columns.map(({ kind }) => kind));
  kinds.delete('null');
  const [kind] = kinds;
  if (kind === undefined) return { kind: 'null' };
  if (kind === 'mixed' || kinds.size > 1)
    return {
      kind: 'mixed',
      values: parts.flatMap((part, p) => decodeColumn(columns[p] as EncodedColumn, part.rowCount)),
    };
  const nulls = joinNulls(parts, columns);
  return kind === 'number'
    ? { kind, values: joinNumbers(parts, columns), nulls }
    : { kind, ...joinBytes(parts, columns), nulls };
}

function joinNumbers(parts: readonly StoredPart[], columns: readonly EncodedColumn[]): Float64Array<ArrayBuffer> {
  const values = new Float64Array(countRows(parts));
  let row = 0;
  for (const [p, column] of columns.entries()) {
    if (column.kind === 'number') values.set(column.values, row);
    row += (parts[p] as StoredPart).rowCount;
  }
  return values;
}

function joinBytes(
  parts: readonly StoredPart[],
  columns: readonly EncodedColumn[],
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly ends: Uint32Array<ArrayBuffer> } {
  let sizeBytes = 0;
  for (const column of columns) if (column.kind === 'text' || column.kind === 'blob') sizeBytes += column.bytes.length;
  const bytes = new Uint8Array(sizeBytes);
  const ends = new Uint32Array(countRows(parts));
  let row = 0;
  let byte = 0;
  let lastEnd = 0;
  for (const [p, column] of columns.entries()) {
    const { rowCount } = parts[p] as StoredPart;
    const base = lastEnd;
    if (column.kind === 'text' || column.kind === 'blob') {
      bytes.set(column.bytes, byte);
      byte += column.bytes.length;
      for (let r = 0; r < rowCount; r++) ends[row + r] = base + (column.ends[r] as number);
      lastEnd = base + (column.ends[rowCount - 1] ?? 0);
    } else ends.fill(base, row, row + rowCount);
    row += rowCount;
  }
  return { bytes, ends };
}

/** A part that is all NULL has no bitmap of its own. */
function joinNulls(parts: readonly StoredPart[], columns: readonly EncodedColumn[]): Uint8Array<ArrayBuffer> | null {
  if (columns.every((column) => column.kind !== 'null' && column.kind !== 'mixed' && column.nulls === null))
    return null;
  const nulls = new Uint8Array((countRows(parts) + 7) >> 3);
  let row = 0;
  for (const [p, column] of columns.entries()) {
    const { rowCount } = parts[p] as StoredPart;
    const own = column.kind === 'null' || column.kind === 'mixed' ? null : column.nulls;
    for (let r = 0; r < rowCount; r++, row++) {
      const isNull = column.kind === 'null' || (own !== null && ((own[r >> 3] as number) & (1 << (r & 7))) !== 0);
      if (isNull) nulls[row >> 3] = (nulls[row >> 3] as number) | (1 << (row & 7));
    }
  }
  return nulls;
}

function countRows(parts: readonly StoredPart[]): number {
  return parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
