import { useId, useRef, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { GoalLine } from '../goals/goal-line.tsx';
import type { GoalState } from '../goals/goal-state.ts';
import { amountSentence } from '../money/amount-sentence.ts';
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
  /** What is typed as the assigned amount of a month, and not saved; null if nothing is. */
  readonly typedIn: (month: string) => string | null;
  readonly onType: (month: string, change: (last: string | null) => string | null) => void;
  /**
   * Called with the amount to assign. Resolves when it is stored; until then the field shows the typed value.
   */
  readonly onAssign: (month: string, amountMinor: number) => Promise<void>;
  readonly onMove: (month: string) => void;
  readonly onGoal: () => void;
}

/** The id of the button that opens the form of an envelope: the one for moving money in a month, or the goal's. */
export function openerId(categoryId: string, month: string | null): string {
  return `open-${month ?? 'goal'}-${categoryId}`;
}

/** One category, in one or more months. */
export function EnvelopeRow({
  months,
  currency,
  goal,
  typedIn,
  onType,
  onAssign,
  onMove,
  onGoal,
}: EnvelopeRowProps): ReactNode {
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
            id={openerId(envelope.categoryId, null)}
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
          typed={typedIn(shown.month)}
          onType={(change) => onType(shown.month, change)}
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
  readonly typed: string | null;
  readonly onType: (change: (last: string | null) => string | null) => void;
  readonly onAssign: (amountMinor: number) => Promise<void>;
  readonly onMove: () => void;
}

/**
 * The amounts of a category in a month. The assigned amount is a field that saves when the focus leaves it.
 */
function EnvelopeCells({
  month,
  inMonth,
  envelope,
  column,
  currency,
  typed,
  onType,
  onAssign,
  onMove,
}: EnvelopeCellsProps): ReactNode {
  const save = useSave();
  const mayWrite = useMayWrite();
  const mark = decimalMarkOf(locale);
  const shown = formatMinorForEditing(envelope.assignedMinor, currency, mark);
  const problemId = useId();
  // Many texts are unreadable while they are typed, so the problem appears when the focus leaves the field.
  const [isLeft, setLeft] = useState(true);
  // Whether the user typed since the field got the focus. `typed` does not tell, because it stays until the amount is
  // saved, and a user may return to the field before then.
  const hasTypedHere = useRef(false);
  const parsed = typed === null || typed.trim() === '' ? null : parseTypedAmount(typed, currency, mark);
  const wantedMinor = parsed === null ? 0n : parsed.ok ? BigInt(parsed.value) : null;
  const problem = isLeft && parsed?.ok === false ? amountSentence(parsed.problem) : null;
  const later = column === 0 ? '' : ' later-month';
  const overspent = envelope.availableMinor < 0n ? ' overspent' : '';

  const assignTyped = (): void => {
    if (typed === null || wantedMinor === null) return;
    save(
      () => onAssign(Number(wantedMinor)),
      wantedMinor === envelope.assignedMinor ? '' : `${envelope.name}: assigned.`,
      () => onType((last) => (last === typed ? null : last)),
    );
  };

  return (
    <>
      <td role="cell" data-of="Assigned" className={`number month-start${later}`}>
        {mayWrite ? (
          <div className="amount-field">
            <input
              className="amount-input"
              aria-label={`Assigned to ${envelope.name}${inMonth}`}
              aria-invalid={wantedMinor === null}
              aria-describedby={problem === null ? undefined : problemId}
              data-column={column}
              inputMode="decimal"
              autoComplete="off"
              value={typed ?? shown}
              onChange={(event) => {
                const { value } = event.target;
                hasTypedHere.current = true;
                setLeft(false);
                onType(() => value);
              }}
              onFocus={(event) => {
                hasTypedHere.current = false;
                event.currentTarget.select();
              }}
              onBlur={() => {
                setLeft(true);
                assignTyped();
              }}
              onKeyDown={(event) => {
                if (keyOf(event) === 'Escape') {
                  hasTypedHere.current = false;
                  return onType(() => null);
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
            {problem !== null && (
              <span className="amount-problem" id={problemId} role="alert">
                <span className="visually-hidden">
                  {envelope.name}
                  {inMonth}:{' '}
                </span>
                {problem}
              </span>
            )}
          </div>
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
            id={openerId(envelope.categoryId, month)}
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
