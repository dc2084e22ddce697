/**
 * Returns a script that speeds up the clock in a page's workers, where the deadlines of sync run: half a minute is too
 * long for a test. The page's own clock keeps its real speed, because the page's time limits for its worker must allow
 * for a slow machine. The code is prepended to every script; a second script in the same worker finds it already
 * installed.
 */
export function fastWorkers(times: number): string {
  return `if (globalThis.FileSystemSyncAccessHandle !== undefined && globalThis.timePasses === undefined) {
  globalThis.timePasses = ${times};
  const { setTimeout } = globalThis;
  const realNow = performance.now.bind(performance);
  const beganMs = realNow();
  performance.now = () => beganMs + (realNow() - beganMs) * ${times};
  globalThis.setTimeout = (callback, delayMs = 0, ...given) => setTimeout(callback, delayMs / ${times}, ...given);
}
`;
}
