/**
 * Time for deadlines, in ms. It never goes back or stands still when the clock of the device is set; otherwise nothing
 * would happen until that clock caught up. It starts at the wall clock and follows whichever advances more: elapsed
 * time, which may exclude sleep, or the wall clock, which does not.
 */
export function createSteadyClock(wallMs: () => number, elapsedMs: () => number): () => number {
  let lastWallMs = wallMs();
  let lastElapsedMs = elapsedMs();
  let steadyMs = lastWallMs;
  return () => {
    const [wall, elapsed] = [wallMs(), elapsedMs()];
    steadyMs += Math.max(0, elapsed - lastElapsedMs, wall - lastWallMs);
    lastWallMs = wall;
    lastElapsedMs = elapsed;
    return steadyMs;
  };
}
