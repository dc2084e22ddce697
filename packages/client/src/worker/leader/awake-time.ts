/**
 * The time in ms during which this thread was awake, as far as it can tell: at most `mostMs` between two reads. While
 * it matters, read it at least that often. A longer gap means that the device slept or the page was blocked, so that no
 * message could arrive.
 */
export function createAwakeTime(elapsedMs: () => number, mostMs: number): () => number {
  let lastMs = elapsedMs();
  let awakeMs = 0;
  return () => {
    const nowMs = elapsedMs();
    awakeMs += Math.min(nowMs - lastMs, mostMs);
    lastMs = nowMs;
    return awakeMs;
  };
}
