import type { ReactNode } from 'react';
import type { CategoryRow } from '../queries/categories.ts';
import { partsOfEntry, type LedgerRow, type PartRow } from '../queries/ledger.ts';
import { Amount } from '../shell/amount.tsx';
import { useQuery } from '../shell/use-query.ts';

export interface EntryPartsProps {
  readonly entry: LedgerRow;
  readonly name: string;
  readonly categories: readonly CategoryRow[];
  readonly columnCount: number;
}

/** The parts of a split entry, kept current, in a row below it. */
export function EntryParts({ entry, name, categories, columnCount }: EntryPartsProps): ReactNode {
  const { rows, loading } = useQuery<PartRow>(partsOfEntry, [entry.id]);
  if (loading) return null;
  return (
    <tr role="row" className="entry-parts" id={partsRowId(entry.id)}>
      <td role="cell" colSpan={columnCount}>
        <ul aria-label={`Parts of ${name}`}>
          {rows.map(({ id, categoryId, amountMinor, notes }) => (
            <li key={id}>
              <span>{categories.find((category) => category.id === categoryId)?.name ?? 'No category'}</span>
              <span className="hint">{notes}</span>
              <Amount minor={amountMinor} currency={entry.currency} signed />
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}

export function partsRowId(entryId: string): string {
  return `parts-${entryId}`;
}
