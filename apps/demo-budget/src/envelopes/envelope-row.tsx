import { useRef, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { GoalLine } from '../goals/goal-line.tsx';
import type { GoalState } from '../goals/goal-state.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { GoalRow } from '../queries/goals.ts';
import { Amount } from '../shell/amount.tsx';
import { useSave } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import { cellTo } from './cell-keys.ts';
import type { Envelope } from './envelopes.ts';

export interface EnvelopeMonth {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Appended to the names of controls, such as ` in January 2026`; empty if one month is shown. */
  readonly inMonth: string;
  readonly envelope: Envelope;
}

export interface EnvelopeRowProps {
  /** The same envelope in each of the months side by side; not empty. */
  readonly months: readonly EnvelopeMonth[];
  readonly currency: string;
  /** The goal in the first month; null if the envelope has none. */
  readonly goal: { readonly goal: GoalRow; readonly state: GoalState } | null;
  /**
   * Called with the amount to assign. Resolves when it is stored; until then the field shows the typed value.
   */
  readonly onAssign: (month: string, amountMinor: number) => Promise<void>;
  readonly onMove: (month: string) => void;
  readonly onGoal: () => void;
}

/** One category, in one or more months. */
export function EnvelopeRow({ months, currency, goal, onAssign, onMove, onGoal }: EnvelopeRowProps): ReactNode {
  const mayWrite = useMayWrite();
  const [first] = months;
  if (first === undefined) return null;
  const { envelope } = first;
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        {mayWrite ? (
          <button
            type="button"
            className="quiet envelope-name"
            onClick={onGoal}
            aria-label={`Goal for ${envelope.name}`}
          >
            {envelope.name}
          </button>
        ) : (
          <span className="envelope-name">{envelope.name}</span>
        )}
        {envelope.note !== '' && <span className="notes">{envelope.note}</span>}
        {goal !== null && <GoalLine {...goal} currency={currency} />}
        {envelope.carriedMinor !== 0n && (
          <span className="notes">
            <Amount minor={envelope.carriedMinor} currency={currency} /> carried over
          </span>
        )}
      </th>
      {months.map((shown, column) => (
        <EnvelopeCells
          key={shown.month}
          {...shown}
          column={column}
          currency={currency}
          onAssign={(amountMinor) => onAssign(shown.month, amountMinor)}
          onMove={() => onMove(shown.month)}
        />
      ))}
    </tr>
  );
}

interface EnvelopeCellsProps extends EnvelopeMonth {
  /** The month's position on the page, from 0. */
  readonly column: number;
  readonly currency: string;
  readonly onAssign: (amountMinor: number) => Promise<void>;
  readonly onMove: () => void;
}

/**
 * The amounts of a category in a month. The assigned amount is a field that saves when the focus leaves it.
 */
function EnvelopeCells({ inMonth, envelope, column, currency, onAssign, onMove }: EnvelopeCellsProps): ReactNode {
  const save = useSave();
  const mayWrite = useMayWrite();
  const mark = decimalMarkOf(locale);
  const shown = formatMinorForEditing(envelope.assignedMinor, currency, mark);
  const [typed, setTyped] = useState<string | null>(null);
  // Whether the user typed since the field got the focus. `typed` does not tell, because it stays until the amount is
  // saved, and a user may return to the field before then.
  const hasTypedHere = useRef(false);
  const parsed = typed === null || typed.trim() === '' ? null : parseTypedAmount(typed, currency, mark);
  const wantedMinor = parsed === null ? 0n : parsed.ok ? BigInt(parsed.value) : null;
  const later = column === 0 ? '' : ' later-month';
  const overspent = envelope.availableMinor < 0n ? ' overspent' : '';

  const assignTyped = (): void => {
    if (typed === null || wantedMinor === null) return;
    save(
      () => onAssign(Number(wantedMinor)),
      wantedMinor === envelope.assignedMinor ? '' : `${envelope.name}: assigned.`,
      () => setTyped((last) => (last === typed ? null : last)),
    );
  };

  return (
    <>
      <td role="cell" data-of="Assigned" className={`number month-start${later}`}>
        {mayWrite ? (
          <input
            className="amount-input"
            aria-label={`Assigned to ${envelope.name}${inMonth}`}
            aria-invalid={wantedMinor === null}
            data-column={column}
            inputMode="decimal"
            autoComplete="off"
            value={typed ?? shown}
            onChange={(event) => {
              hasTypedHere.current = true;
              setTyped(event.target.value);
            }}
            onFocus={(event) => {
              hasTypedHere.current = false;
              event.currentTarget.select();
            }}
            onBlur={assignTyped}
            onKeyDown={(event) => {
              if (keyOf(event) === 'Escape') {
                hasTypedHere.current = false;
                return setTyped(null);
              }
              const next = cellTo(
                event.currentTarget,
                { key: keyOf(event), shiftKey: event.shiftKey },
                hasTypedHere.current,
              );
              if (next === undefined) return undefined;
              event.preventDefault();
              // If there is no next field, leaving this one still saves its amount.
              return next === null ? event.currentTarget.blur() : next.focus();
            }}
          />
        ) : (
          <Amount minor={envelope.assignedMinor} currency={currency} />
        )}
      </td>
      <td role="cell" data-of="Spent" className={`number${later}`}>
        <Amount minor={envelope.spentMinor} currency={currency} />
      </td>
      <td role="cell" data-of="Available" className={`number${overspent}${later}`}>
        {mayWrite ? (
          <button
            type="button"
            className="quiet available"
            onClick={onMove}
            aria-label={`${envelope.availableMinor < 0n ? 'Cover overspending in' : 'Move money from'} ${envelope.name}${inMonth}: ${formatMinor(envelope.availableMinor, currency, locale)}`}
          >
            <Amount minor={envelope.availableMinor} currency={currency} />
          </button>
        ) : (
          <span className="available">
            <Amount minor={envelope.availableMinor} currency={currency} />
          </span>
        )}
      </td>
    </>
  );
}
