import type { SqlValue } from '@rockpool/client';
import { formatMinor } from '../money/format.ts';
import { formatDay } from '../shell/locale.ts';

/** Names for ids in rows. */
export interface Wording {
  readonly locale: string;
  readonly categoryNames: ReadonlyMap<string, string>;
  readonly accountNames: ReadonlyMap<string, string>;
  /** The currency of amounts without an account. */
  readonly currency: string;
}

/** Columns as the app names them. */
export const columnWords: Readonly<Record<string, string>> = {
  name: 'Name',
  kind: 'Kind',
  currency: 'Currency',
  openingMinor: 'Opening balance',
  closed: 'Closed',
  hidden: 'Hidden',
  keepsOverspent: 'Overspending',
  accountId: 'Account',
  otherAccountId: 'To account',
  date: 'Date',
  payee: 'Payee',
  notes: 'Memo',
  categoryId: 'Category',
  amountMinor: 'Amount',
  status: 'Status',
  lastDate: 'Last day',
  content: 'Text',
  transferId: 'Transfer',
  groupName: 'Group',
  note: 'Note',
  month: 'Month',
  byMonth: 'Month',
};

/** Display words for stored values, by column. */
const fixedWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { open: 'not cleared', cleared: 'cleared', reconciled: 'reconciled' },
  closed: { 0: 'open', 1: 'closed' },
  hidden: { 0: 'shown', 1: 'hidden' },
  keepsOverspent: { 0: 'covered each month', 1: 'kept' },
  kind: {
    spending: 'spending',
    income: 'income',
    monthly: 'each month',
    'up-to': 'refill each month',
    'by-month': 'by a month',
    'off-budget': 'off budget',
  },
};

/** A stored value as the app shows it: `€42.10`, `Groceries`, `not cleared`. */
export function valueWord(
  columnName: string | null,
  value: SqlValue,
  currency: string | null,
  { locale, categoryNames, accountNames }: Wording,
): string {
  if (value === null || value === '') return columnName === 'categoryId' ? 'no category' : 'nothing';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = String(value);
  switch (columnName) {
    case 'amountMinor':
    case 'openingMinor':
      return typeof value === 'string' || currency === null ? text : formatMinor(value, currency, locale);
    case 'categoryId':
      return categoryNames.get(text) ?? 'a category';
    case 'accountId':
    case 'otherAccountId':
      return accountNames.get(text) ?? 'an account';
    case 'date':
    case 'lastDate':
      return formatDay(text);
    default:
      return fixedWords[columnName ?? '']?.[text] ?? text;
  }
}
