import { memo, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { isPast, useView } from '../budget/view.ts';
import { formatMinor } from '../money/format.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow } from '../queries/ledger.ts';
import type { EntryStatus } from '../schema.ts';
import { Amount } from '../shell/amount.tsx';
import { formatDay, locale } from '../shell/locale.ts';
import { transferProblem } from '../transfers/transfer-problem.ts';
import { CategorySelect } from './category-select.tsx';
import { partsRowId } from './entry-parts.tsx';

export interface EntryRowProps {
  readonly entry: LedgerRow;
  readonly categories: readonly CategoryRow[];
  readonly selected: boolean;
  /** In the ledger of all accounts, the row shows the account instead of the balance. */
  readonly showsAccount: boolean;
  readonly onEdit: (entry: LedgerRow) => void;
  readonly onCategory: (entry: LedgerRow, categoryId: string | null) => void;
  readonly onSelect: (entry: LedgerRow, selected: boolean) => void;
  readonly onCleared: (entry: LedgerRow, cleared: boolean) => void;
  readonly onNote: (entry: LedgerRow) => void;
  /** The parts are shown below the row. */
  readonly isOpen: boolean;
  readonly onOpen: (entry: LedgerRow, isOpen: boolean) => void;
}

/** The element that receives the focus when an entry's fields are closed. */
export function entryButtonId(entryId: string): string {
  return `entry-${entryId}`;
}

/** Opens the entry's note. */
export function noteButtonId(entryId: string): string {
  return `note-${entryId}`;
}

/** The entry's label: its payee, or the other account of a transfer. */
export function entryName(entry: LedgerRow): string {
  if (entry.otherAccountName !== null) return `${entry.amountMinor < 0 ? 'To' : 'From'} ${entry.otherAccountName}`;
  return entry.payee === '' ? 'No payee' : entry.payee;
}

const statusWords: Readonly<Record<EntryStatus, string>> = {
  open: 'Not cleared',
  cleared: 'Cleared',
  reconciled: 'Reconciled',
};

/**
 * One entry of the ledger. Memoised: a live query returns the same object for an unchanged row, so a changed entry
 * redraws one row. The ARIA roles are explicit because narrow screens lay the rows out as grids, and some browsers then
 * drop the table roles.
 */
export const EntryRow = memo(function EntryRow({
  entry,
  categories,
  selected,
  showsAccount,
  onEdit,
  onCategory,
  onSelect,
  onCleared,
  onNote,
  isOpen,
  onOpen,
}: EntryRowProps): ReactNode {
  const name = entryName(entry);
  const { currency } = entry;
  // The visible text of the button must be part of its accessible name.
  const shown = `${name} ${entry.notes}`.trim();
  const mayWrite = useMayWrite();
  const view = useView();
  return (
    <tr
      role="row"
      className={selected ? 'entry selected' : 'entry'}
      aria-rowindex={entry.position + 2}
      aria-selected={selected}
      data-entry={entry.id}
    >
      <td role="cell" className="entry-select">
        {mayWrite && (
          <input
            type="checkbox"
            checked={selected}
            onChange={(event) => onSelect(entry, event.target.checked)}
            aria-label={`Select ${name}`}
          />
        )}
      </td>
      <td role="cell" className="entry-date">
        {formatDay(entry.date)}
      </td>
      <td role="cell" className="entry-payee">
        <button
          type="button"
          id={entryButtonId(entry.id)}
          className="entry-open"
          onClick={() => onEdit(entry)}
          aria-label={`${mayWrite ? 'Edit' : 'Show'} ${shown}, ${formatDay(entry.date)}`}
        >
          <span className="payee">{name}</span> {entry.notes !== '' && <span className="notes">{entry.notes}</span>}
        </button>
        {(mayWrite || entry.hasNote === 1) && !isPast(view) && (
          <button
            type="button"
            id={noteButtonId(entry.id)}
            className={entry.hasNote === 1 ? 'entry-note-button written' : 'entry-note-button'}
            onClick={() => onNote(entry)}
            aria-label={`${entry.hasNote === 1 ? 'Note' : 'Add a note'} on ${name}, ${formatDay(entry.date)}`}
            title={entry.hasNote === 1 ? 'Note' : 'Add a note'}
          />
        )}
      </td>
      <td role="cell" className="entry-category">
        <EntryCategory
          entry={entry}
          name={name}
          mayWrite={mayWrite}
          currency={currency}
          categories={categories}
          offBudget={entry.offBudget === 1}
          onCategory={onCategory}
          isOpen={isOpen}
          onOpen={onOpen}
        />
      </td>
      <td role="cell" className="entry-amount">
        <Amount minor={entry.amountMinor} currency={currency} signed />
      </td>
      <td role="cell" className="entry-status">
        <button
          type="button"
          className={`status status-${entry.status}`}
          aria-pressed={entry.status !== 'open'}
          aria-label={`${statusWords[entry.status]}: ${name}`}
          title={statusWords[entry.status]}
          disabled={!mayWrite || entry.status === 'reconciled'}
          onClick={() => onCleared(entry, entry.status === 'open')}
        />
      </td>
      <td role="cell" className="entry-balance">
        {showsAccount && <span className="entry-account">{entry.accountName}</span>}
        {entry.balanceMinor !== null && <Amount minor={entry.balanceMinor} currency={currency} />}
      </td>
    </tr>
  );
});

interface EntryCategoryProps extends Pick<EntryRowProps, 'entry' | 'categories' | 'onCategory' | 'isOpen' | 'onOpen'> {
  readonly currency: string;
  /** Off-budget entries have no category. */
  readonly offBudget: boolean;
  readonly name: string;
  readonly mayWrite: boolean;
}

function EntryCategory({
  entry,
  name,
  mayWrite,
  currency,
  categories,
  offBudget,
  onCategory,
  isOpen,
  onOpen,
}: EntryCategoryProps): ReactNode {
  if (entry.partCount > 0) {
    const rest = BigInt(entry.amountMinor) - BigInt(entry.dividedMinor ?? 0);
    const words =
      rest === 0n
        ? `Split into ${entry.partCount}`
        : `${formatMinor(rest < 0n ? -rest : rest, currency, locale)} not divided`;
    return (
      <button
        type="button"
        className={`quiet entry-word entry-split${rest === 0n ? '' : ' unsettled'}`}
        aria-label={`${words}: ${name}`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? partsRowId(entry.id) : undefined}
        onClick={() => onOpen(entry, !isOpen)}
      >
        {words}
      </button>
    );
  }
  const problem = transferProblem(entry);
  if (problem !== null)
    return (
      <span className="entry-word unsettled">
        {problem === 'no-other-side' ? 'Other side missing' : 'Sides differ'}
      </span>
    );
  if (entry.transferId !== null && entry.categoryId === null) return <span className="entry-word">Transfer</span>;
  if (offBudget) return <span className="entry-word">Off budget</span>;
  if (!mayWrite)
    return (
      <span className="entry-word">{categories.find(({ id }) => id === entry.categoryId)?.name ?? 'No category'}</span>
    );
  return (
    <CategorySelect
      categories={categories}
      value={entry.categoryId}
      onChange={(categoryId) => onCategory(entry, categoryId)}
      label={`Category of ${name}`}
    />
  );
}
