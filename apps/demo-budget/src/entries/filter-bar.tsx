import { useState, type ReactNode, type RefObject } from 'react';
import { decimalMarkOf, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { isNarrowed, wholeLedger, type LedgerFilter, type LedgerTotalsRow } from '../queries/ledger.ts';
import { PayeeList } from './payee-list.tsx';
import { Amount } from '../shell/amount.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';

export interface FilterBarProps {
  readonly filter: LedgerFilter;
  readonly categories: readonly CategoryRow[];
  /** The currency of typed amounts and of the total. */
  readonly currency: string;
  /** Whether all entries are in `currency`, so that their sum has a meaning. */
  readonly hasTotal: boolean;
  /** Totals of the matching entries; undefined while they are loading. */
  readonly found: LedgerTotalsRow | undefined;
  readonly searchField: RefObject<HTMLInputElement | null>;
  readonly onFilter: (filter: LedgerFilter) => void;
}

const statusChoices: readonly (readonly [NonNullable<LedgerFilter['status']>, string])[] = [
  ['open', 'Not cleared'],
  ['cleared', 'Cleared'],
  ['reconciled', 'Reconciled'],
  ['not-reconciled', 'Not reconciled'],
];

/** Search and filters of a ledger, with the totals of the matches. */
export function FilterBar({
  filter,
  categories,
  currency,
  hasTotal,
  found,
  searchField,
  onFilter,
}: FilterBarProps): ReactNode {
  const [open, setOpen] = useState(false);
  const search = (text: string): void => {
    const amount = parseTypedAmount(text, currency, decimalMarkOf(locale));
    onFilter({ ...filter, text: text.trimStart(), textMinor: amount.ok ? Math.abs(amount.value) : null });
  };
  return (
    <search className="filters">
      <div className="filter-line">
        <input
          ref={searchField}
          type="search"
          className="search"
          aria-label="Search entries"
          placeholder="Payee, memo, amount"
          value={filter.text}
          onChange={(event) => search(event.target.value)}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Escape') event.currentTarget.blur();
          }}
        />
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          Filter
        </button>
      </div>
      {open && (
        <div className="fields compact card">
          <label>
            In category
            <select
              value={filter.categoryId ?? ''}
              onChange={(event) =>
                onFilter({ ...filter, categoryId: event.target.value === '' ? null : event.target.value })
              }
            >
              <option value="">Any</option>
              <option value="none">Uncategorized</option>
              {categories.map((category) => (
                <option key={category.id} value={category.id}>
                  {category.name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Status
            <select
              value={filter.status ?? ''}
              onChange={(event) =>
                onFilter({
                  ...filter,
                  status: statusChoices.find(([status]) => status === event.target.value)?.[0] ?? null,
                })
              }
            >
              <option value="">Any</option>
              {statusChoices.map(([status, word]) => (
                <option key={status} value={status}>
                  {word}
                </option>
              ))}
            </select>
          </label>
          <label>
            Payee
            <input
              value={filter.payee}
              list="filter-payees"
              autoComplete="off"
              onChange={(event) => onFilter({ ...filter, payee: event.target.value })}
            />
            <PayeeList id="filter-payees" />
          </label>
          <AmountLimit
            label="Amount from"
            currency={currency}
            minor={filter.atLeastMinor}
            onLimit={(atLeastMinor) => onFilter({ ...filter, atLeastMinor })}
          />
          <AmountLimit
            label="Amount to"
            currency={currency}
            minor={filter.atMostMinor}
            onLimit={(atMostMinor) => onFilter({ ...filter, atMostMinor })}
          />
          <label>
            From
            <input
              type="date"
              value={filter.fromDate}
              onChange={(event) => onFilter({ ...filter, fromDate: event.target.value })}
            />
          </label>
          <label>
            To
            <input
              type="date"
              value={filter.toDate}
              onChange={(event) => onFilter({ ...filter, toDate: event.target.value })}
            />
          </label>
        </div>
      )}
      {isNarrowed(filter) && found !== undefined && (
        <p className="found" role="status">
          <span>
            {found.entryCount === 0
              ? 'No entries found'
              : `${found.entryCount === 1 ? '1 entry' : `${found.entryCount.toLocaleString(locale)} entries`} found${hasTotal ? ', ' : ''}`}
            {hasTotal && found.entryCount > 0 && <Amount minor={found.totalMinor} currency={currency} />}
          </span>
          <button
            type="button"
            className="quiet"
            onClick={() => {
              setOpen(false);
              onFilter(wholeLedger);
            }}
          >
            Show all
          </button>
        </p>
      )}
    </search>
  );
}

interface AmountLimitProps {
  readonly label: string;
  readonly currency: string;
  /** The limit that applies when the field is shown. */
  readonly minor: number | null;
  /** Null while the field is empty or not an amount. */
  readonly onLimit: (minor: number | null) => void;
}

function AmountLimit({ label, currency, minor, onLimit }: AmountLimitProps): ReactNode {
  const [typed, setTyped] = useState(() =>
    minor === null ? '' : formatMinorForEditing(minor, currency, decimalMarkOf(locale)),
  );
  const limit = (text: string): void => {
    setTyped(text);
    const amount = parseTypedAmount(text, currency, decimalMarkOf(locale));
    onLimit(amount.ok ? Math.abs(amount.value) : null);
  };
  return (
    <label>
      {label}
      <input
        className="amount-input"
        value={typed}
        inputMode="decimal"
        autoComplete="off"
        onChange={(event) => limit(event.target.value)}
      />
    </label>
  );
}
