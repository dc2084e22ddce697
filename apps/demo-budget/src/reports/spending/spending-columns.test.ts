import { describe, expect, it } from 'vitest';
import { spendingColumns } from './spending-columns.ts';
import { spendingReport } from './spending.ts';

const categories = Array.from(
  { length: 8 },
  (_, index) =>
    ({
      id: `c${index}`,
      name: `Category ${index}`,
      kind: 'spending',
      hidden: 0,
      keepsOverspent: 0,
      groupName: '',
      position: 0,
      note: '',
    }) as const,
);
const rows = categories.map(({ id }, index) => ({ month: '2025-01', categoryId: id, spentMinor: 1_000 - index }));
const report = spendingReport(rows, categories, ['2024-12', '2025-01']);

describe('the columns of spending', () => {
  it('name the six largest categories and combine the others, to the cent', () => {
    const [, january] = spendingColumns(report, undefined);
    const segments = january?.bars[0] ?? [];
    expect(segments.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'rest']);
    expect(segments.reduce((sum, { minor }) => sum + minor, 0n)).toBe(report.totalMinor);
    expect(january?.summary).toEqual([{ name: 'Total', minor: report.totalMinor }]);
  });

  it('compare each month, or a selected category in it, with a year earlier', () => {
    const before = spendingReport(
      [
        { month: '2024-01', categoryId: 'c2', spentMinor: 40 },
        { month: '2024-01', categoryId: 'c7', spentMinor: 2 },
      ],
      categories,
      ['2023-12', '2024-01'],
    );
    const earlier = (onlyCategory?: string): unknown[] =>
      spendingColumns(report, onlyCategory, before).map(({ summary }) => summary[1]?.minor);
    expect([earlier(), earlier('c2'), earlier('c3')]).toEqual([
      [0n, 42n],
      [0n, 40n],
      [undefined, undefined],
    ]);
  });

  it('show only the selected category, in the same colour as among the others', () => {
    const [, january] = spendingColumns(report, 'c2');
    expect(january?.bars).toEqual([[{ id: 'c2', name: 'Category 2', minor: 998n, colour: '--series-3' }]]);
  });
});
