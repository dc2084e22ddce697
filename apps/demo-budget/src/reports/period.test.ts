import { describe, expect, it } from 'vitest';
import { daysOf, monthsFromTo } from './period.ts';

describe('the period of a report', () => {
  it('is a range of days', () => {
    expect(daysOf({ last: '2025-02', count: 3 })).toEqual({ first: '2024-12-01', last: '2025-02-31' });
  });

  it('ends with any month that has entries', () => {
    expect(monthsFromTo('2024-11', '2025-01')).toEqual(['2025-01', '2024-12', '2024-11']);
    expect(monthsFromTo(null, null)).toEqual([]);
  });
});
