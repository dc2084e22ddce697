/**
 * How much later each message and request arrives in this run, in ms: 0, unless `ROCKPOOL_SLOW_MS` sets it. A test that
 * passes only on a fast machine usually fails with 200.
 */
export const slowMs: number = Number(process.env['ROCKPOOL_SLOW_MS'] ?? 0);

/**
 * Returns a script that delivers each message between a page, its workers and its other tabs this much later. As on a
 * busy machine, writes, live queries, statuses and rendering take long, and their order is that of a user's machine. It
 * is prepended to every script; a second script finds it already installed.
 */
export function slowMessages(delayMs: number): string {
  return `if (globalThis.hasSlowMessages === undefined) {
  globalThis.hasSlowMessages = true;
  const { setTimeout } = globalThis;
  const slow = (target) => {
    const { postMessage } = target;
    target.postMessage = function (...given) {
      setTimeout(() => postMessage.apply(this, given), ${delayMs});
    };
  };
  for (const name of ['Worker', 'MessagePort', 'BroadcastChannel'])
    if (globalThis[name] !== undefined) slow(globalThis[name].prototype);
  if (globalThis.FileSystemSyncAccessHandle !== undefined) slow(globalThis);
}
`;
}
