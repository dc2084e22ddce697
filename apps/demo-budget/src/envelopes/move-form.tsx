import { useState, type FormEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/parse.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { locale } from '../shell/locale.ts';
import type { Envelope } from './envelopes.ts';

export interface MoveFormProps {
  readonly from: Envelope;
  readonly envelopes: readonly Envelope[];
  readonly currency: string;
  readonly onMove: (toCategoryId: string, amountMinor: number) => void;
  /** Turns round what becomes of what this envelope overspends. */
  readonly onKeepOverspent: () => void;
  readonly onCancel: () => void;
}

/** From one envelope into another. Begins with what an envelope that lacks money needs, as far as this one has it. */
export function MoveForm({ from, envelopes, currency, onMove, onKeepOverspent, onCancel }: MoveFormProps): ReactNode {
  const others = envelopes.filter((envelope) => envelope.categoryId !== from.categoryId);
  const needy = others.find(({ availableMinor }) => availableMinor < 0n);
  const mark = decimalMarkOf(locale);
  const [toCategoryId, setToCategoryId] = useState(needy?.categoryId ?? others[0]?.categoryId ?? '');
  const [amount, setAmount] = useState(() => formatMinorForEditing(firstAmount(from, needy), currency, mark));
  const [problem, setProblem] = useState<string | null>(null);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseTypedAmount(amount, currency, mark);
    if (!parsed.ok) return setProblem(amountSentence(parsed.problem));
    if (parsed.value <= 0) return setProblem('Enter an amount to move.');
    onMove(toCategoryId, parsed.value);
  };

  return (
    <form
      className="form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      aria-label={`Move money from ${from.name}`}
    >
      <div className="fields">
        <label>
          Move from {from.name}
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
          To
          <select value={toCategoryId} onChange={(event) => setToCategoryId(event.target.value)}>
            {others.map(({ categoryId, name, availableMinor }) => (
              <option key={categoryId} value={categoryId}>
                {name} ({formatMinor(availableMinor, currency, locale)})
              </option>
            ))}
          </select>
        </label>
      </div>
      <p className="hint">
        {from.keepsOverspent
          ? 'Overspending carries over to the next month.'
          : 'Overspending is covered from unassigned money at the end of the month.'}
      </p>
      <FormEnd problem={problem} submit="Move" onCancel={onCancel}>
        <button type="button" className="quiet" onClick={onKeepOverspent}>
          {from.keepsOverspent ? 'Cover overspending each month' : 'Carry overspending over'}
        </button>
      </FormEnd>
    </form>
  );
}

function firstAmount(from: Envelope, needy: Envelope | undefined): bigint {
  const has = from.availableMinor < 0n ? 0n : from.availableMinor;
  const needs = needy === undefined ? has : -needy.availableMinor;
  return needs < has ? needs : has;
}
