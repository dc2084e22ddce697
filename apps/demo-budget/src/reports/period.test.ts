import { describe, expect, it } from 'vitest';
import { daysIn, monthsFromTo, monthsOf, periodOfMonths, yearBefore } from './period.ts';

describe('the period of a report', () => {
  it('covers whole months, which may begin on any day', () => {
    expect(periodOfMonths('2025-02', 3, 1)).toEqual({ first: '2024-12-01', last: '2025-02-28', firstDay: 1 });
    expect(periodOfMonths('2025-02', 3, 25)).toEqual({ first: '2024-12-25', last: '2025-03-24', firstDay: 25 });
  });

  it('covers parts of months, if any days were chosen', () => {
    const period = { first: '2024-12-30', last: '2025-02-03', firstDay: 1 };
    expect(monthsOf(period)).toEqual(['2024-12', '2025-01', '2025-02']);
    expect(monthsOf({ ...period, firstDay: 25 })).toEqual(['2024-12', '2025-01']);
    expect(monthsOf(period).map((month) => daysIn(period, month))).toEqual([
      { first: '2024-12-30', last: '2024-12-31' },
      { first: '2025-01-01', last: '2025-01-31' },
      { first: '2025-02-01', last: '2025-02-03' },
    ]);
  });

  it('is compared with the same days of the year before, up to the end of a month', () => {
    expect(yearBefore({ first: '2024-02-29', last: '2024-03-15', firstDay: 1 })).toMatchObject({
      first: '2023-02-28',
      last: '2023-03-15',
    });
    expect(yearBefore(periodOfMonths('2025-02', 1, 1))).toMatchObject({ first: '2024-02-01', last: '2024-02-29' });
  });

  it('can end with any month that has entries', () => {
    expect(monthsFromTo('2024-11', '2025-01')).toEqual(['2025-01', '2024-12', '2024-11']);
    expect(monthsFromTo(null, null)).toEqual([]);
  });
});
