import { describe, expect, it } from 'vitest';
import { cashFlow, cashFlowColumns, totalOf } from './cash-flow.ts';

const flows = cashFlow(
  [
    { month: '2025-01', side: 'income', changeMinor: 300_000 },
    { month: '2025-01', side: 'spending', changeMinor: -120_000 },
    { month: '2025-03', side: 'spending', changeMinor: 500 },
  ],
  ['2025-01', '2025-02', '2025-03'],
);

describe('the cash-flow report', () => {
  it('shows the net of each month, also for months without entries and for net refunds', () => {
    expect(flows).toEqual([
      { month: '2025-01', incomeMinor: 300_000n, spentMinor: 120_000n, keptMinor: 180_000n },
      { month: '2025-02', incomeMinor: 0n, spentMinor: 0n, keptMinor: 0n },
      { month: '2025-03', incomeMinor: 0n, spentMinor: -500n, keptMinor: 500n },
    ]);
    expect(totalOf(flows)).toEqual({ incomeMinor: 300_000n, spentMinor: 119_500n, keptMinor: 180_500n });
  });

  it('is drawn as two bars a month, with a line', () => {
    expect(cashFlowColumns(flows)[0]).toMatchObject({
      id: '2025-01',
      bars: [[{ minor: 300_000n }], [{ minor: 120_000n }]],
      lineMinor: 180_000n,
    });
  });

  it('compares the net of each month with the same month a year earlier', () => {
    const before = cashFlow(
      [
        { month: '2024-03', side: 'income', changeMinor: 70 },
        { month: '2024-03', side: 'spending', changeMinor: -30 },
      ],
      ['2024-01', '2024-02', '2024-03'],
    );
    expect(cashFlowColumns(flows, before).map(({ summary }) => summary.map(({ minor }) => minor))).toEqual([
      [180_000n, 0n],
      [0n, 0n],
      [500n, 40n],
    ]);
  });
});
