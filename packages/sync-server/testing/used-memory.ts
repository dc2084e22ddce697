import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * What this process keeps, in bytes. The resident size alone says nothing of that: a heap that may grow holds garbage
 * for as long as there is room.
 */
export interface UsedMemory {
  /** Objects that something still refers to. */
  readonly heapBytes: number;
  /**
   * All that the system has given to this process and it has touched: the program, SQLite, buffers, and V8's pages,
   * which are never all in use and not given back at once.
   */
  readonly residentBytes: number;
}

export function usedMemory(): UsedMemory {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  // What only finalizers hold is freed by the second.
  collectGarbage();
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, residentBytes: rss };
}
