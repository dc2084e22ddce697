import { expect, it } from 'vitest';
import { parseTime } from './parse-time.ts';

it.each([
  ['2026-03-01', Date.UTC(2026, 2, 1)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['2026-03-01T12:00Z', Date.UTC(2026, 2, 1, 12)],
  ['2026-03-01T12:00:07Z', Date.UTC(2026, 2, 1, 12, 0, 7)],
  ['2026-03-01T12:00:07.123Z', Date.UTC(2026, 2, 1, 12, 0, 7, 123)],
  ['2026-03-01T13:00+01:00', Date.UTC(2026, 2, 1, 12)],
])('%s is a time', (text, timeMs) => {
  expect(parseTime(text)).toBe(timeMs);
});

it.each([
  ['of an unknown zone', '2026-03-01T12:00'],
  ['of an unknown zone', '2026-03-01T12:00:07'],
  ['of an unknown zone', '2026-03-01 12:00'],
  ['on a day that does not exist', '2026-02-30'],
  ['on a day that does not exist', '2026-02-29T12:00Z'],
  ['in another form', '1 March 2026'],
  ['in another form', '2026-03-01T12:00 GMT'],
  ['in another form', ''],
])('a time %s is refused: %j', (_, text) => {
  expect(parseTime(text)).toBeNull();
});
