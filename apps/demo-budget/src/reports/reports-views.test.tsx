import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { formatMinorRounded } from '../money/format.ts';
import { locale } from '../shell/locale.ts';
import { MonthBars } from './month-bars.tsx';
import { spendingReport } from './spending.ts';
import { SpendingTable } from './spending-table.tsx';

const rows = [
  { month: '2025-01', categoryId: 'g', spentMinor: 100_000 },
  { month: '2025-02', categoryId: 'g', spentMinor: 50_000 },
  { month: '2025-02', categoryId: null, spentMinor: -1_000 },
];
const report = spendingReport(rows, [{ id: 'g', name: 'Groceries', kind: 'spending', hidden: 0 }], ['2025-01', '2025-02']);

describe('the spending table', () => {
  it('names its rows and columns for screen readers, and adds up', () => {
    const html = renderToStaticMarkup(<SpendingTable report={report} currency="EUR" />);
    expect(html).toContain('Spending by category and month, in EUR');
    expect(html.match(/<th scope="col"/g)).toHaveLength(4);
    expect(html.match(/<th scope="row"/g)).toHaveLength(3);
    expect(html).toContain(formatMinorRounded(150_000, 'EUR', locale));
    expect(html).toContain(formatMinorRounded(149_000, 'EUR', locale));
  });
});

describe('the bars', () => {
  it('are as long as their share of the largest month, and hidden from screen readers', () => {
    const html = renderToStaticMarkup(<MonthBars report={report} currency="EUR" />);
    expect(html).toContain('aria-hidden="true"');
    expect([...html.matchAll(/height="([\d.]+)"/g)].map(([, height]) => Math.round(Number(height)))).toEqual([120, 59]);
  });
});
