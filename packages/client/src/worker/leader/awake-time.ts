/**
 * Time in ms that this thread was awake, as far as it can tell: between two looks at it at most `mostMs` pass. So look
 * at least that often for as long as it matters; a longer gap is a device that slept, or a page that was held up, and
 * nothing that others sent meanwhile could be heard.
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
