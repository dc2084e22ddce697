/** A part of a file. */
export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * What a `Range` header asks of a file of this size: one range from a start on. Null: the whole file, which is also the
 * answer to what is not understood. `beyond`: the file ends before it.
 */
export function readByteRange(header: string | null, sizeBytes: number): ByteRange | 'beyond' | null {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined) return null;
  const start = Number(first);
  const end = Math.min(sizeBytes, last === undefined || last === '' ? sizeBytes : Number(last) + 1);
  if (start >= sizeBytes) return 'beyond';
  return start < end ? { start, end } : null;
}
