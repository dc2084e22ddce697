/**
 * Code that lets time pass so many times as fast in the workers of a page, where the deadlines of sync are: half a
 * minute is too long for a test. The page's own time stays, as it says how long its worker may take on this machine. It
 * stands before the code of every script; a second script of the same worker finds it done.
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
