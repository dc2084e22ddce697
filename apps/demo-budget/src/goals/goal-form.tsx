import { useState, type FormEvent, type ReactNode } from 'react';
import { isDay, monthAfter } from '../calendar/months.ts';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { GoalRow } from '../queries/goals.ts';
import type { GoalKind } from '../schema.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import type { GoalValues } from './actions.ts';

export interface GoalFormProps {
  readonly categoryName: string;
  readonly goal: GoalRow | undefined;
  readonly currency: string;
  readonly month: string;
  /** `before`: the goal that the user saw when the form opened. */
  readonly onSave: (goal: GoalValues, before: GoalValues | undefined) => void;
  readonly onRemove: () => void;
  readonly onCancel: () => void;
}

export function GoalForm({
  categoryName,
  goal,
  currency,
  month,
  onSave,
  onRemove,
  onCancel,
}: GoalFormProps): ReactNode {
  const mark = decimalMarkOf(locale);
  const [kind, setKind] = useState<GoalKind>(goal?.kind ?? 'monthly');
  const [amount, setAmount] = useState(
    goal === undefined ? '' : formatMinorForEditing(goal.amountMinor, currency, mark),
  );
  const [byMonth, setByMonth] = useState(goal?.byMonth ?? monthAfter(month, 6));
  const [problem, setProblem] = useState<string | null>(null);
  const [before] = useState(goal);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseTypedAmount(amount, currency, mark);
    if (!parsed.ok) return setProblem(amountSentence(parsed.problem));
    if (parsed.value <= 0) return setProblem('Enter an amount.');
    if (kind === 'by-month' && !isDay(`${byMonth}-01`)) return setProblem('Enter a month, such as 2026-08.');
    onSave({ kind, amountMinor: parsed.value, byMonth: kind === 'by-month' ? byMonth : null }, before);
  };

  return (
    <form
      className="form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onCancel();
      }}
      aria-label={`Goal for ${categoryName}`}
    >
      <h2>Goal for {categoryName}</h2>
      <div className="fields">
        <label>
          How often
          <select value={kind} onChange={(event) => setKind(event.target.value as GoalKind)}>
            <option value="monthly">Save an amount each month</option>
            <option value="up-to">Refill to an amount each month</option>
            <option value="by-month">Reach an amount by a month</option>
          </select>
        </label>
        <label>
          Amount in {currency}
          <input
            className="amount-input"
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
            inputMode="decimal"
            autoComplete="off"
            autoFocus
          />
        </label>
        {kind === 'by-month' && (
          <label>
            By
            <input type="month" value={byMonth} onChange={(event) => setByMonth(event.target.value)} />
          </label>
        )}
      </div>
      <FormEnd problem={problem} submit="Save goal" onCancel={onCancel}>
        {goal !== undefined && (
          <button type="button" className="danger" onClick={onRemove}>
            Remove
          </button>
        )}
      </FormEnd>
    </form>
  );
}
