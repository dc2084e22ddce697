/** A file whose pages are copied. */
export interface PageSource {
  readonly pageSizeBytes: number;
  /**
   * Begins to read the current state of the file, whose pages stay unchanged until `end`. With `everything`, reads all
   * pages; otherwise, only those that may differ from the copy.
   */
  begin(everything: boolean): Capture;
}

/** The pages of a file at one moment. */
export interface Capture {
  readonly pageCount: number;
  /** Ascending. May include pages that have not changed. */
  readonly pages: PageNumbers;
  /** The time of the newest commit. Null if unknown. */
  readonly timeMs: number | null;
  readonly watermark: number | null;
  /** Throws `database-damaged`, or `database-unavailable` if the file was closed. */
  read(page: number): Buffer;
  /** Ends reading, so that the file may change again. Can be called twice. */
  end(): void;
  /** Marks the pages as changed again, because they were not stored. */
  giveBack(): void;
}

export interface PageNumbers {
  readonly count: number;
  /** The page numbers at positions `from` (inclusive) to `to` (exclusive). */
  slice(from: number, to: number): readonly number[];
}

export function allPages(count: number): PageNumbers {
  return { count, slice: (from, to) => Array.from({ length: Math.min(to, count) - from }, (_, i) => from + i + 1) };
}

export function somePages(numbers: readonly number[]): PageNumbers {
  return { count: numbers.length, slice: (from, to) => numbers.slice(from, to) };
}
