/**
 * More threads than any machine has cores. Each takes some 20 MB, so a mistyped number would end the process for lack
 * of memory.
 */
export const MAX_THREADS = 1_024;

export function isThreadCount(threads: unknown): threads is number {
  return Number.isInteger(threads) && (threads as number) >= 1 && (threads as number) <= MAX_THREADS;
}
