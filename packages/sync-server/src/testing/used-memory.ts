import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What this process keeps, in bytes. The resident size alone says nothing of that: a heap that may grow holds garbage for as long as there is room. */
export interface UsedMemory {
  /** Objects that something still refers to. */
  readonly heapBytes: number;
  /** Everything that was never in the heap of objects: buffers, SQLite, the program itself. */
  readonly outsideBytes: number;
}

/** `mostHeapBytes`: the largest that the heap has been (`heapTotal`). V8 takes pages off it which the system is not given back at once, or ever. */
export function usedMemory(mostHeapBytes: number = 0): UsedMemory {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  // What only finalizers hold is freed by the second.
  collectGarbage();
  collectGarbage();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, outsideBytes: rss - Math.max(heapTotal, mostHeapBytes) };
}
