import type { Logger } from './log-line.ts';

/** Events that clients without a token can cause. */
const REFUSALS: ReadonlySet<string> = new Set([
  'admin-refused',
  'authenticate-error',
  'origin-refused',
  'request-error',
  'request-refused',
  'session-failed',
  'session-silent',
  'socket-error',
]);

const LINES_PER_SECOND = 50;
const SECOND_MS = 1_000;

/**
 * Limits the lines about each kind of refusal to 50 a second, so that refused clients cannot fill the disk. Before the
 * next line of that kind, a line `lines-dropped` has the number of omitted lines. Metrics count all of them.
 */
export function limitRefusals(log: Logger, nowMs: () => number = Date.now): Logger {
  const windows = new Map<string, { startedMs: number; lines: number }>();
  return (event, fields) => {
    if (!REFUSALS.has(event)) return log(event, fields);
    let window = windows.get(event);
    const now = nowMs();
    if (window === undefined || Math.abs(now - window.startedMs) >= SECOND_MS) {
      const dropped = (window?.lines ?? 0) - LINES_PER_SECOND;
      if (dropped > 0) log('lines-dropped', { of: event, count: dropped });
      window = { startedMs: now, lines: 0 };
      windows.set(event, window);
    }
    window.lines++;
    if (window.lines <= LINES_PER_SECOND) log(event, fields);
  };
}
