import type { AccountChangeRow } from '../../queries/reports.ts';
import { formatMonth, formatMonthInFull } from '../../shell/locale.ts';
import type { ChartColumn } from '../chart/column-chart.tsx';

/** The totals of all accounts at the end of a month. */
export interface MonthWorth {
  /** `YYYY-MM`. */
  readonly month: string;
  /** The total of the accounts with a positive balance. */
  readonly ownedMinor: bigint;
  /** The total of the accounts with a negative balance: 0 or negative. */
  readonly owedMinor: bigint;
  readonly worthMinor: bigint;
}

export interface AccountWorth {
  readonly accountId: string;
  readonly name: string;
  /** The balance at the end of the last month. */
  readonly balanceMinor: bigint;
}

export interface NetWorth {
  readonly months: readonly MonthWorth[];
  readonly accounts: readonly AccountWorth[];
}

/**
 * Computes month-end balances from each account's earlier balance and monthly changes.
 *
 * @param rows by account, and by month within it.
 */
export function netWorth(rows: readonly AccountChangeRow[], months: readonly string[]): NetWorth {
  const accounts = [...Map.groupBy(rows, (row) => row.accountId).values()].map((changes) => ({
    ...identityOf(changes),
    balances: balancesAtEndOf(months, changes),
  }));
  return {
    months: months.map((month, index) => {
      const balances = accounts.map((account) => account.balances[index] ?? 0n);
      const ownedMinor = sum(balances.filter((balance) => balance > 0n));
      const owedMinor = sum(balances.filter((balance) => balance < 0n));
      return { month, ownedMinor, owedMinor, worthMinor: ownedMinor + owedMinor };
    }),
    accounts: accounts.map(({ accountId, name, balances }) => ({
      accountId,
      name,
      balanceMinor: balances.at(-1) ?? 0n,
    })),
  };
}

/**
 * Bars for assets and, below zero, debts; a line for the net worth.
 *
 * @param monthsBefore the same months a year earlier
 */
export function netWorthColumns(
  months: readonly MonthWorth[],
  monthsBefore: readonly MonthWorth[] = [],
): ChartColumn[] {
  return months.map(({ month, ownedMinor, owedMinor, worthMinor }, index) => ({
    id: month,
    label: formatMonth(month),
    title: formatMonthInFull(month),
    bars: [
      [
        { id: 'owned', name: 'Assets', minor: ownedMinor, colour: '--chart-in' },
        { id: 'owed', name: 'Debts', minor: owedMinor, colour: '--chart-out' },
      ],
    ],
    lineMinor: worthMinor,
    summary: [
      { name: 'Net worth', minor: worthMinor },
      ...(monthsBefore[index] === undefined ? [] : [{ name: 'A year earlier', minor: monthsBefore[index].worthMinor }]),
    ],
  }));
}

function identityOf([first]: readonly AccountChangeRow[]): { readonly accountId: string; readonly name: string } {
  return { accountId: first?.accountId ?? '', name: first?.name ?? '' };
}

function balancesAtEndOf(months: readonly string[], changes: readonly AccountChangeRow[]): bigint[] {
  let balanceMinor = BigInt(changes[0]?.beforeMinor ?? 0);
  let next = 0;
  return months.map((month) => {
    for (; next < changes.length && (changes[next]?.month ?? month) <= month; next += 1)
      balanceMinor += BigInt(changes[next]?.changeMinor ?? 0);
    return balanceMinor;
  });
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
