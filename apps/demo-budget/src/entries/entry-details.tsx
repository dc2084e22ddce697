import type { ReactNode } from 'react';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import { Amount } from '../shell/amount.tsx';
import { formatDay } from '../shell/locale.ts';
import { entryName } from './entry-row.tsx';

export interface EntryDetailsProps {
  readonly entry: LedgerRow;
  readonly parts: readonly PartRow[];
  readonly currency: string;
  readonly categories: readonly CategoryRow[];
  readonly onClose: () => void;
}

/** All fields of an entry, read-only: shown to viewers instead of the form. */
export function EntryDetails({ entry, parts, currency, categories, onClose }: EntryDetailsProps): ReactNode {
  const nameOf = (categoryId: string | null): string =>
    categories.find(({ id }) => id === categoryId)?.name ?? 'No category';
  const lines =
    parts.length > 0
      ? parts
      : [{ id: entry.id, categoryId: entry.categoryId, amountMinor: entry.amountMinor, notes: '' }];
  return (
    <section className="entry-details" aria-label={entryName(entry)}>
      <p>
        <strong>{entryName(entry)}</strong>, {formatDay(entry.date)}
      </p>
      {entry.notes !== '' && <p className="entry-details-notes">{entry.notes}</p>}
      <ul>
        {lines.map((line) => (
          <li key={line.id}>
            <span>
              {entry.transferId !== null && line.categoryId === null ? 'Transfer' : nameOf(line.categoryId)}{' '}
              {line.notes !== '' && <span className="hint">{line.notes}</span>}
            </span>
            <Amount minor={line.amountMinor} currency={currency} signed />
          </li>
        ))}
      </ul>
      <button type="button" onClick={onClose} autoFocus>
        Close
      </button>
    </section>
  );
}
