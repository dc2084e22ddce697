import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The memory that this process retains, in bytes. The resident size alone does not show it, because a heap keeps
 * garbage while it can grow.
 */
export interface UsedMemory {
  /** Bytes of reachable objects. */
  readonly heapBytes: number;
  /**
   * Bytes of all pages that the process has touched: the program, SQLite, buffers and V8. V8 never uses all of its
   * pages, and returns unused pages late.
   */
  readonly residentBytes: number;
}

export function usedMemory(): UsedMemory {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  // The second collection frees objects that only finalizers held.
  collectGarbage();
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, residentBytes: rss };
}
