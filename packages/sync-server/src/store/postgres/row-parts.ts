import type { PartialRecord } from '@rockpool/shared';

/**
 * The approximate limit, in bytes of values, of what one statement writes or one fetch reads. A single row may exceed
 * it.
 */
export const PART_BYTES: number = 16 * 1024 * 1024;

/** About how many bytes the values of a row take in memory. */
export function bytesOf(values: PartialRecord): number {
  let bytes = 0;
  for (const value of values)
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : Number(value !== undefined) * 8;
  return bytes;
}

/** Groups rows into parts of up to `maxRows` rows and about PART_BYTES. No part is empty. */
export async function* inParts<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  maxRows: number,
  valuesOf: (row: Row) => PartialRecord,
): AsyncGenerator<readonly Row[]> {
  let part: Row[] = [];
  let partBytes = 0;
  for await (const row of rows) {
    part.push(row);
    partBytes += bytesOf(valuesOf(row));
    if (part.length < maxRows && partBytes < PART_BYTES) continue;
    yield part;
    part = [];
    partBytes = 0;
  }
  if (part.length > 0) yield part;
}
