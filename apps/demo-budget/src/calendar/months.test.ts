import { expect, it } from 'vitest';
import { monthAfter, monthsBetween, monthsUpTo } from './months.ts';

it('months cross year boundaries', () => {
  expect([monthAfter('2025-12', 1), monthAfter('2026-01', -1), monthAfter('2026-01', 26)]).toEqual([
    '2026-01',
    '2025-12',
    '2028-03',
  ]);
  expect(monthsUpTo('2025-02', 4)).toEqual(['2024-11', '2024-12', '2025-01', '2025-02']);
  expect([monthsBetween('2025-11', '2026-02'), monthsBetween('2026-02', '2025-11')]).toEqual([3, -3]);
});
