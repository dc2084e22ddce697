/** The maximum number of pages whose checksums are read at once. */
const PAGES_PER_SLICE = 64 * 1024;

export interface ComparedSums {
  readonly pageCount: number;
  /** The checksums beside the file, of `count` pages from page `first`; 0 if unknown. */
  readonly stored: (first: number, count: number) => Uint32Array;
  /** The checksums of the pages as copied. */
  readonly copied: (first: number, count: number) => Uint32Array;
  /**
   * Whether a page counts as different if its checksum is unknown because the page was last written before files had
   * checksums.
   */
  readonly unknownDiffers: boolean;
}

/**
 * Yields the numbers of the pages that differ from the copy, slice by slice, so that the caller can pause in between.
 */
export function* differingPages({ pageCount, stored, copied, unknownDiffers }: ComparedSums): Generator<number[]> {
  for (let first = 1; first <= pageCount; first += PAGES_PER_SLICE) {
    const count = Math.min(PAGES_PER_SLICE, pageCount - first + 1);
    const known = copied(first, count);
    const differing: number[] = [];
    stored(first, count).forEach((sum, i) => {
      if (sum === 0 ? unknownDiffers : sum !== known[i]) differing.push(first + i);
    });
    yield differing;
  }
}
