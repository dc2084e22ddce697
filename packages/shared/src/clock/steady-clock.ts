/**
 * Time for deadlines, in ms: it never goes back and never stands still, whatever is done to the device's clock, or
 * nothing would happen again until that clock has come to where it was. It begins as the wall clock and runs with
 * whichever of the two goes further: the time that has passed, which may leave out the device's sleep, and the wall
 * clock, which does not.
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
