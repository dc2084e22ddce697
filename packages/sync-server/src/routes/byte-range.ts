/** A range of bytes in a file. */
export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * Reads a `Range` header for a file of this size; supports one range with a start. Returns null for the whole file,
 * also if the header is missing or not supported, and `beyond` if the range starts after the end of the file.
 */
export function readByteRange(header: string | null, sizeBytes: number): ByteRange | 'beyond' | null {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined) return null;
  const start = Number(first);
  const end = Math.min(sizeBytes, last === undefined || last === '' ? sizeBytes : Number(last) + 1);
  if (start >= sizeBytes) return 'beyond';
  return start < end ? { start, end } : null;
}
