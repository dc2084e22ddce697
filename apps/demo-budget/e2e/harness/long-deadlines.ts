/**
 * A script that makes the app's time limits a hundred times as long, in pages and in workers, for tests of work that a
 * busy machine may not finish within them. It is prepended to every script; a second script finds it already installed.
 */
export const longDeadlines = `if (globalThis.hasLongDeadlines === undefined) {
  globalThis.hasLongDeadlines = true;
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (callback, delayMs = 0, ...given) =>
    setTimeout(callback, delayMs < 2_500 ? delayMs : delayMs * 100, ...given);
}
`;
