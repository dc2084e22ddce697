import { describe, expect, it } from 'vitest';
import type { AccountRow } from '../queries/accounts.ts';
import { totalsByCurrency } from './totals.ts';

const account: AccountRow = {
  id: 'a',
  name: 'A',
  kind: 'checking',
  currency: 'EUR',
  openingMinor: 0,
  closed: 0,
  groupName: '',
  balanceMinor: 100,
  entryCount: 1,
};

describe('totals', () => {
  it('add up open accounts per currency and never mix currencies', () => {
    const accounts: AccountRow[] = [
      account,
      { ...account, balanceMinor: 2n ** 60n },
      { ...account, currency: 'JPY', balanceMinor: -5 },
      { ...account, closed: 1 },
    ];
    expect(totalsByCurrency(accounts)).toEqual([
      { currency: 'EUR', totalMinor: 2n ** 60n + 100n },
      { currency: 'JPY', totalMinor: -5n },
    ]);
  });
});
