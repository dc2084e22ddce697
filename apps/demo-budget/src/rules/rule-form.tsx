import { useState, type FormEvent, type ReactNode } from 'react';
import { CategorySelect } from '../entries/category-select.tsx';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf } from '../money/format.ts';
import { parseTypedAmount } from '../money/parse.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { RuleField, RuleTest } from '../schema.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { locale } from '../shell/locale.ts';
import type { RuleFields } from './actions.ts';

export interface RuleFormProps {
  readonly categories: readonly CategoryRow[];
  readonly currency: string;
  readonly onSave: (rule: RuleFields) => void;
  readonly onCancel: () => void;
}

const testsOf: Readonly<Record<RuleField, readonly (readonly [RuleTest, string])[]>> = {
  payee: [['contains', 'contains'], ['is', 'is']],
  notes: [['contains', 'contains'], ['is', 'is']],
  amount: [['is', 'is'], ['at-least', 'is at least'], ['at-most', 'is at most']],
};

/** If … then …, as a sentence to fill in. */
export function RuleForm({ categories, currency, onSave, onCancel }: RuleFormProps): ReactNode {
  const [field, setField] = useState<RuleField>('payee');
  const [test, setTest] = useState<RuleTest>('contains');
  const [value, setValue] = useState('');
  const [categoryId, setCategoryId] = useState<string | null>(null);
  const [payee, setPayee] = useState('');
  const [problem, setProblem] = useState<string | null>(null);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const amount = field === 'amount' ? parseTypedAmount(value, currency, decimalMarkOf(locale)) : null;
    if (amount !== null && !amount.ok) return setProblem(amountSentence(amount.problem));
    if (value.trim() === '') return setProblem('Say what to look for.');
    if (categoryId === null && payee.trim() === '') return setProblem('Choose a category, a payee, or both.');
    onSave({ field, test, value: amount === null ? value.trim() : String(Math.abs(amount.value)), categoryId, payee: payee.trim() === '' ? null : payee.trim() });
  };

  return (
    <form
      className="card form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      aria-label="New rule"
    >
      <div className="fields">
        <label>
          If
          <select
            value={field}
            onChange={(event) => {
              const chosen = event.target.value as RuleField;
              setField(chosen);
              setTest(testsOf[chosen][0]?.[0] ?? 'is');
            }}
          >
            <option value="payee">the payee</option>
            <option value="notes">the notes</option>
            <option value="amount">the amount</option>
          </select>
        </label>
        <select aria-label="How" value={test} onChange={(event) => setTest(event.target.value as RuleTest)}>
          {testsOf[field].map(([choice, word]) => (
            <option key={choice} value={choice}>
              {word}
            </option>
          ))}
        </select>
        <input aria-label="What" value={value} onChange={(event) => setValue(event.target.value)} inputMode={field === 'amount' ? 'decimal' : 'text'} autoComplete="off" autoFocus />
      </div>
      <div className="fields">
        <label>
          Then the category is
          <CategorySelect categories={categories} value={categoryId} onChange={setCategoryId} />
        </label>
        <label>
          And the payee becomes
          <input value={payee} onChange={(event) => setPayee(event.target.value)} placeholder="As it is" autoComplete="off" />
        </label>
      </div>
      <FormEnd problem={problem} submit="Add rule" onCancel={onCancel} />
    </form>
  );
}
