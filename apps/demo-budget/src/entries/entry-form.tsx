import { useId, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/parse.ts';
import type { CategoryRow } from '../queries.ts';
import { locale, today } from '../shell/locale.ts';
import type { EntryFields } from './actions.ts';
import { CategorySelect } from './category-select.tsx';

export interface EntryFormProps {
  /** What the fields begin with; undefined for a new entry. */
  readonly entry?: EntryFields;
  readonly currency: string;
  readonly categories: readonly CategoryRow[];
  readonly payees: readonly string[];
  readonly onSave: (fields: EntryFields) => void;
  readonly onCancel: () => void;
  readonly onDelete?: () => void;
}

type Direction = 'out' | 'in';

/** The fields of a ledger entry: for a new one, and in place of one that is being changed. Enter saves, Escape leaves. */
export function EntryForm({ entry, currency, categories, payees, onSave, onCancel, onDelete }: EntryFormProps): ReactNode {
  const id = useId();
  const mark = decimalMarkOf(locale);
  const [date, setDate] = useState(entry?.date ?? today());
  const [payee, setPayee] = useState(entry?.payee ?? '');
  const [notes, setNotes] = useState(entry?.notes ?? '');
  const [categoryId, setCategoryId] = useState(entry?.categoryId ?? null);
  const [amount, setAmount] = useState(entry === undefined ? '' : formatMinorForEditing(Math.abs(entry.amountMinor), currency, mark));
  const [direction, setDirection] = useState<Direction>(entry !== undefined && entry.amountMinor > 0 ? 'in' : 'out');
  const [problem, setProblem] = useState<string | null>(null);

  // The keyboards of phones offer no minus for amounts, so the direction is a choice of its own. Where a sign is typed, it moves that choice.
  const typeAmount = (text: string): void => {
    const sign = /^\s*([+\-\u2212])/u.exec(text);
    if (sign !== null) setDirection(sign[1] === '+' ? 'in' : 'out');
    setAmount(sign === null ? text : text.slice(sign[0].length));
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseTypedAmount(amount, currency, mark);
    if (!parsed.ok) return setProblem(amountSentence(parsed.problem));
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return setProblem('There is no date.');
    const amountMinor = direction === 'out' && parsed.value !== 0 ? -parsed.value : parsed.value;
    onSave({ date, payee: payee.trim(), notes: notes.trim(), categoryId, amountMinor });
  };

  const leaveOnEscape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
  };

  return (
    <form className="form entry-form" onSubmit={submit} onKeyDown={leaveOnEscape} aria-label={entry === undefined ? 'New entry' : 'Change entry'}>
      <div className="fields">
        <label>
          Date
          <input type="date" value={date} onChange={(event) => setDate(event.target.value)} required />
        </label>
        <label className="wide">
          Payee
          <input value={payee} onChange={(event) => setPayee(event.target.value)} list={`${id}-payees`} autoComplete="off" autoFocus />
          <datalist id={`${id}-payees`}>
            {payees.map((known) => (
              <option key={known} value={known} />
            ))}
          </datalist>
        </label>
        <label>
          Category
          <CategorySelect categories={categories} value={categoryId} onChange={setCategoryId} />
        </label>
        <label>
          Amount in {currency}
          <input className="amount-input" value={amount} onChange={(event) => typeAmount(event.target.value)} inputMode="decimal" autoComplete="off" />
        </label>
        <fieldset className="direction" aria-label="Direction">
          <label>
            <input type="radio" name={`${id}-direction`} checked={direction === 'out'} onChange={() => setDirection('out')} />
            Money out
          </label>
          <label>
            <input type="radio" name={`${id}-direction`} checked={direction === 'in'} onChange={() => setDirection('in')} />
            Money in
          </label>
        </fieldset>
        <label className="wide">
          Notes
          <textarea value={notes} onChange={(event) => setNotes(event.target.value)} rows={notes.includes('\n') ? 3 : 1} />
        </label>
      </div>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="primary">
          {entry === undefined ? 'Add entry' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        {onDelete !== undefined && (
          <button type="button" className="danger" onClick={onDelete}>
            Delete
          </button>
        )}
      </div>
    </form>
  );
}
