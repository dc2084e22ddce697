/**
 * One call that changed a simulated disk. Creating, renaming and removing files is durable at once; other calls are
 * durable when their file is flushed.
 */
export type DiskCall =
  | { readonly kind: 'create' | 'remove' | 'flush'; readonly file: string }
  | { readonly kind: 'rename'; readonly file: string; readonly newName: string }
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: string; readonly sizeBytes: number };

/**
 * The ways in which a call can fail:
 * - `short`: half of the bytes are written, and the count is half (Firefox over quota)
 * - `negative`: nothing is written, and the count is 4294967288 (Chromium over quota)
 * - `negative-after-write`: everything is written, and the count is 4294967288 nevertheless
 * - `quota`: throws QuotaExceededError
 * - `lost`: throws InvalidStateError, like a handle that the browser closed
 * - `unknown`: throws UnknownError, like a browser whose disk fails
 */
export type DiskFault = 'short' | 'negative' | 'negative-after-write' | 'quota' | 'lost' | 'unknown';

/** A call that is about to be made, used to decide whether it fails. */
export interface PlannedCall {
  readonly kind: 'write' | 'truncate' | 'flush';
  readonly file: string;
  /** Bytes to write; 0 for other calls. */
  readonly sizeBytes: number;
}

/** Chromium's error code for "no space", read as an unsigned number. */
export const NEGATIVE_COUNT = 4294967288;
