import { describe, expect, it } from 'vitest';
import { netWorth, netWorthColumns } from './net-worth.ts';

describe('net worth', () => {
  const giro = { accountId: 'giro', name: 'Giro', beforeMinor: 10_000 };
  const card = { accountId: 'card', name: 'Card', beforeMinor: 0 };
  const rows = [
    { ...giro, month: '2024-11', changeMinor: -2_000 },
    { ...giro, month: '2025-01', changeMinor: 500 },
    { ...card, month: '2025-02', changeMinor: -3_000 },
    { accountId: 'new', name: 'New', beforeMinor: 7, month: '2024-11', changeMinor: 0 },
  ];

  it('is compared with the same months a year earlier', () => {
    const { months } = netWorth(rows, ['2025-01', '2025-02']);
    const before = netWorth(
      [
        { ...giro, month: '2024-01', changeMinor: -2_000 },
        { ...card, month: '2024-02', changeMinor: -500 },
      ],
      ['2024-01', '2024-02'],
    );
    const columns = netWorthColumns(months, before.months);
    expect(columns.map(({ summary }) => summary.map(({ minor }) => minor))).toEqual([
      [8_507n, 8_000n],
      [5_507n, 7_500n],
    ]);
  });

  it('carries balances into the period and over months without entries, and keeps debts separate', () => {
    expect(netWorth(rows, ['2024-12', '2025-01', '2025-02'])).toEqual({
      months: [
        { month: '2024-12', ownedMinor: 8_007n, owedMinor: 0n, worthMinor: 8_007n },
        { month: '2025-01', ownedMinor: 8_507n, owedMinor: 0n, worthMinor: 8_507n },
        { month: '2025-02', ownedMinor: 8_507n, owedMinor: -3_000n, worthMinor: 5_507n },
      ],
      accounts: [
        { accountId: 'giro', name: 'Giro', balanceMinor: 8_500n },
        { accountId: 'card', name: 'Card', balanceMinor: -3_000n },
        { accountId: 'new', name: 'New', balanceMinor: 7n },
      ],
    });
  });
});
