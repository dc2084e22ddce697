import { memo, type ReactNode } from 'react';
import type { CategoryRow, LedgerRow } from '../queries.ts';
import { Amount } from '../shell/amount.tsx';
import { formatDay } from '../shell/locale.ts';
import { CategorySelect } from './category-select.tsx';

export interface EntryRowProps {
  readonly entry: LedgerRow;
  readonly currency: string;
  readonly categories: readonly CategoryRow[];
  readonly onEdit: (entry: LedgerRow) => void;
  readonly onCategory: (entry: LedgerRow, categoryId: string | null) => void;
}

/** Where the focus returns to when an entry's fields are left. */
export function entryButtonId(entryId: string): string {
  return `entry-${entryId}`;
}

/**
 * One entry of the ledger. Memoised: a live query hands out the same object for a row that did not change, so one changed entry draws
 * one row anew. The roles are spelled out because on narrow screens the rows are laid out as grids, and some browsers then forget them.
 */
export const EntryRow = memo(function EntryRow({ entry, currency, categories, onEdit, onCategory }: EntryRowProps): ReactNode {
  const name = entry.payee === '' ? 'Entry without payee' : entry.payee;
  return (
    <tr role="row" className="entry">
      <td role="cell" className="entry-date">
        {formatDay(entry.date)}
      </td>
      <td role="cell" className="entry-payee">
        <button type="button" id={entryButtonId(entry.id)} className="entry-open" onClick={() => onEdit(entry)} aria-label={`Change ${name}, ${formatDay(entry.date)}`}>
          <span className="payee">{name}</span>
          {entry.notes !== '' && <span className="notes">{entry.notes}</span>}
        </button>
      </td>
      <td role="cell" className="entry-category">
        <CategorySelect categories={categories} value={entry.categoryId} onChange={(categoryId) => onCategory(entry, categoryId)} label={`Category of ${name}`} />
      </td>
      <td role="cell" className="entry-amount">
        <Amount minor={entry.amountMinor} currency={currency} signed />
      </td>
      <td role="cell" className="entry-balance">
        <Amount minor={entry.balanceMinor} currency={currency} />
      </td>
    </tr>
  );
});
