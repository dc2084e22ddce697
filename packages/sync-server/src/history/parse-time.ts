/** What `parseTime` accepts, after the word “time”. */
export const TIME_FORM = 'such as 2026-03-01 (in UTC), 2026-03-01T12:00Z or 2026-03-01T13:00+01:00';

const TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Returns a date in UTC or a time with its zone in ms since 1970, or null. A time without a zone is refused: it would
 * be that of the machine, which may not be the one of the operator, and restore another state.
 */
export function parseTime(text: string): number | null {
  const [, date = ''] = TIME.exec(text) ?? [];
  const dayMs = Date.parse(date);
  const timeMs = Date.parse(text);
  // `Date.parse` takes 30 February as 2 March.
  if (Number.isNaN(timeMs) || Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(date)) return null;
  return timeMs;
}
