/**
 * A script that makes the app's time limits a hundred times as long, in pages and in workers, for tests of work that a
 * busy machine may not finish within them. It is prepended to every script; a second script finds it already installed.
 */
export const longDeadlines = `if (globalThis.hasLongDeadlines === undefined) {
  globalThis.hasLongDeadlines = true;
  const { setTimeout, setInterval } = globalThis;
  const longer = (delayMs) => (delayMs < 2_500 ? delayMs : delayMs * 100);
  globalThis.setTimeout = (callback, delayMs = 0, ...given) => setTimeout(callback, longer(delayMs), ...given);
  // The page replaces a worker that leaves several pings unanswered, which are sent every few seconds.
  globalThis.setInterval = (callback, delayMs = 0, ...given) => setInterval(callback, longer(delayMs), ...given);
}
`;
