import type { AccountKind } from '../schema.ts';

export const accountKinds: readonly AccountKind[] = ['checking', 'savings', 'credit', 'cash', 'off-budget'];

export const accountKindWords: Readonly<Record<AccountKind, string>> = {
  checking: 'Checking',
  savings: 'Savings',
  credit: 'Credit card',
  cash: 'Cash',
  'off-budget': 'Off budget',
};
