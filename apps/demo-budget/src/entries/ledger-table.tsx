import { Fragment, useCallback, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import { formatMinor } from '../money/format.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerFilter, LedgerRow } from '../queries/ledger.ts';
import type { AccountRow } from '../queries/accounts.ts';
import { ledgerWindow } from '../queries/ledger.ts';
import { locale } from '../shell/locale.ts';
import { useSteadyQuery } from '../shell/use-query.ts';
import { EntryParts } from './entry-parts.tsx';
import { entryName, EntryRow, type EntryRowProps } from './entry-row.tsx';
import { isSelected, type Selection } from './selection.ts';
import { useRowWindow } from './use-row-window.ts';

export interface LedgerTableProps extends Pick<
  EntryRowProps,
  'onEdit' | 'onCategory' | 'onSelect' | 'onCleared' | 'onNote'
> {
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly filter: LedgerFilter;
  readonly entryCount: number;
  readonly categories: readonly CategoryRow[];
  readonly selection: Selection;
  /** The entry whose form or note replaces its row. */
  readonly edited: LedgerRow | null;
  readonly editForm: ReactNode;
}

const columnCount = 7;

/**
 * Renders the rows around the visible ones. Spacers replace all others, so that the page has the height of the whole
 * ledger.
 */
export function LedgerTable({
  own,
  filter,
  entryCount,
  categories,
  selection,
  edited,
  editForm,
  ...handlers
}: LedgerTableProps): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, count, rowHeight } = useRowWindow(body);
  const { sql, params } = ledgerWindow(own?.id ?? null, filter, first, count);
  const { rows } = useSteadyQuery<LedgerRow>(sql, params);
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(new Set());
  const open = useCallback(
    ({ id }: LedgerRow, isOpen: boolean) =>
      setOpenIds((known) => new Set(isOpen ? [...known, id] : [...known].filter((other) => other !== id))),
    [],
  );
  const amountCharacters = useMemo(() => longestAmount(rows), [rows]);
  const before = rows[0]?.position ?? 0;
  const after = Math.max(0, entryCount - before - rows.length);
  const editedInView = edited !== null && rows.some((row) => row.id === edited.id);
  const editRow = edited !== null && (
    <tr role="row" key={edited.id} className="entry-edited">
      <td role="cell" colSpan={columnCount}>
        {editForm}
      </td>
    </tr>
  );

  return (
    <table
      role="table"
      className="ledger"
      aria-label={`Entries of ${own?.name ?? 'all accounts'}`}
      aria-rowcount={entryCount + 1}
      style={{ '--amount-characters': amountCharacters } as CSSProperties}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col">
            <span className="visually-hidden">Select</span>
          </th>
          <th role="columnheader" scope="col">
            Date
          </th>
          <th role="columnheader" scope="col">
            Payee and memo
          </th>
          <th role="columnheader" scope="col">
            Category
          </th>
          <th role="columnheader" scope="col" className="number">
            Amount
          </th>
          <th role="columnheader" scope="col">
            <span className="visually-hidden">Cleared</span>
          </th>
          <th role="columnheader" scope="col" className="number">
            {own === null ? 'Account' : 'Balance'}
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup" ref={body}>
        {before > 0 && <Room heightPx={before * rowHeight} />}
        {/* The form stays mounted when it is scrolled out of view, so that typed values are kept. */}
        {!editedInView && editRow}
        {rows.map((entry) =>
          entry.id === edited?.id ? (
            editRow
          ) : (
            <Fragment key={entry.id}>
              <EntryRow
                entry={entry}
                categories={categories}
                selected={isSelected(selection, entry.id)}
                showsAccount={own === null}
                isOpen={entry.partCount > 0 && openIds.has(entry.id)}
                onOpen={open}
                {...handlers}
              />
              {entry.partCount > 0 && openIds.has(entry.id) && (
                <EntryParts entry={entry} name={entryName(entry)} categories={categories} columnCount={columnCount} />
              )}
            </Fragment>
          ),
        )}
        {after > 0 && <Room heightPx={after * rowHeight} />}
      </tbody>
    </table>
  );
}

/** The number of characters of the longest amount or balance. */
function longestAmount(rows: readonly LedgerRow[]): number {
  return rows.reduce((longest, { amountMinor, balanceMinor, currency }) => {
    // An incoming amount has a plus.
    const amount = formatMinor(amountMinor, currency, locale).length + (amountMinor > 0 ? 1 : 0);
    return Math.max(longest, amount, formatMinor(balanceMinor ?? 0, currency, locale).length);
  }, 0);
}

/** Spacer for entries out of view. */
function Room({ heightPx }: { readonly heightPx: number }): ReactNode {
  return (
    <tr className="room" aria-hidden="true" style={{ height: heightPx }}>
      <td colSpan={columnCount} />
    </tr>
  );
}
