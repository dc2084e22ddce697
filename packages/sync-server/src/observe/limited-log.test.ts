import { expect, it } from 'vitest';
import { limitRefusals } from './limited-log.ts';

it('the limited log writes 50 refusals of one kind a second, and counts the refusals that it omits', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const log = limitRefusals(
    (event, { of, count }) => lines.push(event === 'lines-dropped' ? `${String(of)} ${String(count)}` : event),
    () => nowMs,
  );
  for (let i = 0; i < 80; i++) log('request-refused', {});
  log('origin-refused', {});
  for (let i = 0; i < 80; i++) log('member-set', {});
  expect(lines.filter((line) => line === 'request-refused')).toHaveLength(50);
  expect(lines.filter((line) => line === 'member-set')).toHaveLength(80);
  nowMs = 1_000;
  log('origin-refused', {});
  log('request-refused', {});
  expect(lines.slice(-3)).toEqual(['origin-refused', 'request-refused 30', 'request-refused']);
  for (let i = 0; i < 80; i++)
    for (const event of ['socket-error', 'request-error', 'authenticate-error']) log(event, {});
  for (const event of ['socket-error', 'request-error', 'authenticate-error'])
    expect(lines.filter((line) => line === event)).toHaveLength(50);
  // Sets the clock back.
  nowMs = -50_000;
  log('request-refused', {});
  expect(lines.at(-1)).toBe('request-refused');
});
