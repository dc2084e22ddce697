import { describe, expect, it } from 'vitest';
import { barShare, spendingReport } from './spending.ts';

describe('the spending report', () => {
  const categories = [
    {
      id: 'g',
      name: 'Groceries',
      kind: 'spending',
      hidden: 0,
      keepsOverspent: 0,
      groupName: '',
      position: 0,
      note: '',
    },
    { id: 'h', name: 'Home', kind: 'spending', hidden: 0, keepsOverspent: 0, groupName: '', position: 0, note: '' },
  ] as const;

  it('has a line per category with spending, the largest first, and zeros for empty months', () => {
    const rows = [
      { month: '2025-01', categoryId: 'g', spentMinor: 1000 },
      { month: '2025-02', categoryId: 'g', spentMinor: -300 },
      { month: '2025-02', categoryId: 'h', spentMinor: 90000 },
      { month: '2025-02', categoryId: null, spentMinor: 50 },
    ];
    expect(spendingReport(rows, categories, ['2025-01', '2025-02'])).toEqual({
      months: ['2025-01', '2025-02'],
      lines: [
        { categoryId: 'h', name: 'Home', spentMinorByMonth: [0n, 90000n], totalMinor: 90000n },
        { categoryId: 'g', name: 'Groceries', spentMinorByMonth: [1000n, -300n], totalMinor: 700n },
        { categoryId: null, name: 'No category', spentMinorByMonth: [0n, 50n], totalMinor: 50n },
      ],
      totalMinorByMonth: [1000n, 89750n],
      totalMinor: 90750n,
    });
  });

  it('is exact beyond 2^53', () => {
    const rows = [
      { month: '2025-01', categoryId: 'g', spentMinor: 2n ** 60n },
      { month: '2025-01', categoryId: 'h', spentMinor: 1 },
    ];
    expect(spendingReport(rows, categories, ['2025-01']).totalMinor).toBe(2n ** 60n + 1n);
  });
});

describe('a bar', () => {
  it('is as long as its share of the largest sum, and empty for a refund', () => {
    expect([barShare(5n, 10n), barShare(-5n, 10n), barShare(5n, 0n)]).toEqual([0.5, 0, 0]);
  });
});
