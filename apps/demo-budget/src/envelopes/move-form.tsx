import { useState, type FormEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import type { Envelope } from './envelopes.ts';

export interface MoveFormProps {
  /** The envelope of the open row. Money moves out of it, or into it if it is overspent. */
  readonly envelope: Envelope;
  readonly envelopes: readonly Envelope[];
  readonly currency: string;
  /** Appended to the name of the envelope, such as ` in January 2026`; empty if one month is shown. */
  readonly inMonth?: string;
  readonly onMove: (fromCategoryId: string, toCategoryId: string, amountMinor: number) => void;
  /** Toggles whether overspending in this envelope carries over. */
  readonly onKeepOverspent: () => void;
  readonly onCancel: () => void;
}

/**
 * Moves money between two envelopes. For an overspent envelope, the form proposes the missing amount, from the envelope
 * that has most. For any other, it proposes the amount that the first overspent envelope lacks, limited to the
 * available money.
 */
export function MoveForm({
  envelope,
  envelopes,
  currency,
  inMonth = '',
  onMove,
  onKeepOverspent,
  onCancel,
}: MoveFormProps): ReactNode {
  // Decided once: a change by somebody else must not reverse the direction while the form is open.
  const [covers] = useState(envelope.availableMinor < 0n);
  const others = envelopes.filter(({ categoryId }) => categoryId !== envelope.categoryId);
  const first = covers ? richest(others) : (others.find(({ availableMinor }) => availableMinor < 0n) ?? others[0]);
  const mark = decimalMarkOf(locale);
  const [otherId, setOtherId] = useState(first?.categoryId ?? '');
  const [amount, setAmount] = useState(() =>
    formatMinorForEditing(covers ? firstAmount(first, envelope) : firstAmount(envelope, first), currency, mark),
  );
  const [problem, setProblem] = useState<string | null>(null);
  // Another user may have deleted the chosen category; the field then shows the first one.
  const other = others.find(({ categoryId }) => categoryId === otherId) ?? others[0];

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseTypedAmount(amount, currency, mark);
    if (!parsed.ok) return setProblem(amountSentence(parsed.problem));
    if (parsed.value <= 0) return setProblem('Enter an amount to move.');
    if (other === undefined) return setProblem('There is no other category yet.');
    if (covers) onMove(other.categoryId, envelope.categoryId, parsed.value);
    else onMove(envelope.categoryId, other.categoryId, parsed.value);
  };

  return (
    <form
      className="form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onCancel();
      }}
      aria-label={`${covers ? 'Cover overspending in' : 'Move money from'} ${envelope.name}${inMonth}`}
    >
      <div className="fields">
        <label>
          {covers ? `Cover ${envelope.name}${inMonth} with` : `Move from ${envelope.name}${inMonth}`}
          <input
            className="amount-input"
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
            inputMode="decimal"
            autoComplete="off"
            autoFocus
          />
        </label>
        <label>
          {covers ? 'From' : 'To'}
          <select value={other?.categoryId ?? ''} onChange={(event) => setOtherId(event.target.value)}>
            {others.map(({ categoryId, name, availableMinor }) => (
              <option key={categoryId} value={categoryId}>
                {name} ({formatMinor(availableMinor, currency, locale)})
              </option>
            ))}
          </select>
        </label>
      </div>
      <p className="hint">
        {envelope.keepsOverspent
          ? 'Overspending carries over to the next month.'
          : 'Overspending is covered from unassigned money at the end of the month.'}
      </p>
      <FormEnd problem={problem} submit={covers ? 'Cover' : 'Move'} onCancel={onCancel}>
        <button type="button" className="quiet" onClick={onKeepOverspent}>
          {envelope.keepsOverspent ? 'Cover overspending each month' : 'Carry overspending over'}
        </button>
      </FormEnd>
    </form>
  );
}

function richest(envelopes: readonly Envelope[]): Envelope | undefined {
  return envelopes.reduce<Envelope | undefined>(
    (most, envelope) => (most === undefined || envelope.availableMinor > most.availableMinor ? envelope : most),
    undefined,
  );
}

/** The amount that `to` lacks, limited to the money in `from`; all of `from` if `to` lacks nothing. */
function firstAmount(from: Envelope | undefined, to: Envelope | undefined): bigint {
  const has = from === undefined || from.availableMinor < 0n ? 0n : from.availableMinor;
  const lacks = to === undefined || to.availableMinor >= 0n ? has : -to.availableMinor;
  return lacks < has ? lacks : has;
}
