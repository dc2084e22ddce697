import { expect, it } from 'vitest';
import { daysOfMonth, monthAfter, monthOfDay, monthsBetween, monthsUpTo } from './months.ts';

it('months cross year boundaries', () => {
  expect([monthAfter('2025-12', 1), monthAfter('2026-01', -1), monthAfter('2026-01', 26)]).toEqual([
    '2026-01',
    '2025-12',
    '2028-03',
  ]);
  expect(monthsUpTo('2025-02', 4)).toEqual(['2024-11', '2024-12', '2025-01', '2025-02']);
  expect([monthsBetween('2025-11', '2026-02'), monthsBetween('2026-02', '2025-11')]).toEqual([3, -3]);
});

it('months begin on any day up to the 28th and keep the name of the month in which they begin', () => {
  expect(daysOfMonth('2026-02', 1)).toEqual({ first: '2026-02-01', last: '2026-02-28' });
  expect(daysOfMonth('2024-02', 28)).toEqual({ first: '2024-02-28', last: '2024-03-27' });
  expect(daysOfMonth('2025-12', 25)).toEqual({ first: '2025-12-25', last: '2026-01-24' });
  expect(['2026-01-24', '2026-01-25', '2026-03-01'].map((day) => monthOfDay(day, 25))).toEqual([
    '2025-12',
    '2026-01',
    '2026-02',
  ]);
  expect(monthOfDay('2026-01-01', 1)).toBe('2026-01');
});
