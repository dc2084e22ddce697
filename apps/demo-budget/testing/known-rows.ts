import type { KnownRows } from '../src/words/row-differences.ts';

/** An entry in yen, two categories, and an account. */
export const known: KnownRows = {
  wording: {
    locale: 'en',
    categoryNames: new Map([
      ['food', 'Groceries'],
      ['fun', 'Leisure'],
    ]),
    accountNames: new Map([['giro', 'Giro']]),
    currency: 'EUR',
  },
  entries: new Map([['e', { id: 'e', date: '2026-04-01', payee: 'Rent', currency: 'JPY' }]]),
  currencyOfAccount: new Map([['giro', 'JPY']]),
};
