import type { BranchConflict, BranchRowChange, Client } from '@rockpool/client';
import { useCallback, useEffect, useState } from 'react';
import { monthBudget, type MonthBudget } from '../envelopes/envelopes.ts';
import { anyChange } from '../queries/any-change.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { activityByMonth, assignedByMonth, type ActivityRow, type AssignedRow } from '../queries/envelopes.ts';
import { useReport } from '../shell/failure.tsx';
import { readKnownRows } from '../words/read-known-rows.ts';
import type { KnownRows } from '../words/row-differences.ts';
import { monthEffect, type MonthEffect } from './effect.ts';
import { useWhatIf } from './what-if.ts';

export interface CompareOptions {
  readonly currency: string;
  /** `YYYY-MM`. */
  readonly month: string;
}

/** How the what-if compares with today. */
export interface Compared {
  /** Everything that the what-if changed. */
  readonly rows: readonly BranchRowChange[];
  readonly conflicts: readonly BranchConflict[];
  /** Why the what-if cannot be taken over, such as a newer version of the app; null if it can. */
  readonly obstacle: unknown;
  readonly effect: MonthEffect;
  readonly known: KnownRows;
}

/**
 * Compares the what-if with today: when the page opens, when `compareAgain` is called, and when anything changes in the
 * what-if or in today's budget.
 */
export function useComparison({ currency, month }: CompareOptions): {
  readonly compared: Compared | null;
  readonly compareAgain: () => void;
} {
  const { branch, today } = useWhatIf();
  const report = useReport();
  const [compared, setCompared] = useState<Compared | null>(null);
  const [asked, setAsked] = useState(0);
  const compareAgain = useCallback(() => setAsked((count) => count + 1), []);
  useEffect(() => {
    const stops = [branch, today].map((client) => client.live(anyChange).subscribe(compareAgain));
    return () => {
      for (const stop of stops) stop();
    };
  }, [branch, compareAgain, today]);
  useEffect(() => {
    let isShown = true;
    const compare = async (): Promise<Compared> => {
      const [rows, merge, whatIfMonth, todayMonth] = await Promise.all([
        branch.diff(),
        branch.preview().then(
          ({ conflicts }) => ({ conflicts, obstacle: null }),
          (obstacle: unknown) => ({ conflicts: [], obstacle }),
        ),
        readMonth(branch, currency, month),
        readMonth(today, currency, month),
      ]);
      return {
        rows,
        ...merge,
        effect: monthEffect(todayMonth, whatIfMonth),
        known: await readKnownRows([branch, today], [...rows, ...merge.conflicts]),
      };
    };
    compare().then(
      (result) => isShown && setCompared(result),
      (error: unknown) => isShown && report(error),
    );
    return () => {
      isShown = false;
    };
  }, [asked, branch, currency, month, report, today]);
  return { compared, compareAgain };
}

async function readMonth(client: Client, currency: string, month: string): Promise<MonthBudget> {
  const [categories, assigned, activity, currencies] = await Promise.all([
    client.query<CategoryRow>(categoriesByName),
    client.query<AssignedRow>(assignedByMonth, [currency, month]),
    client.query<ActivityRow>(activityByMonth, [currency, month]),
    client.query<CurrencyRow>(currenciesOfAccounts),
  ]);
  const openingMinor = BigInt(currencies.find((row) => row.currency === currency)?.openingMinor ?? 0);
  return monthBudget({ month, categories, assigned, activity, openingMinor });
}
