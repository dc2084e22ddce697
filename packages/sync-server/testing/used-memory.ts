import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The memory that this process retains, in bytes. The resident size alone does not show it, because a heap keeps
 * garbage while it can grow.
 */
export interface UsedMemory {
  /** Bytes of reachable objects. */
  readonly heapBytes: number;
  /** Bytes of their buffers. */
  readonly bufferBytes: number;
  /**
   * Bytes of all pages that the process has touched: the program, SQLite, buffers and V8. V8 never uses all of its
   * pages, and returns unused pages late.
   */
  readonly residentBytes: number;
}

export function usedMemory(): UsedMemory {
  collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, bufferBytes: arrayBuffers, residentBytes: rss };
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second collection frees objects that only finalizers held.
  collect();
  collect();
}
