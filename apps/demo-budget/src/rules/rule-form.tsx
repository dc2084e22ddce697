import { useState, type FormEvent, type ReactNode } from 'react';
import { CategorySelect } from '../entries/category-select.tsx';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { fail, succeed, type Result } from '../result.ts';
import type { RuleNeeds } from '../schema.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import { newSplit, RuleSplitFields, splitDraftsOf, splitOf, type RulePartDraft } from './rule-split-fields.tsx';
import { ConditionFields, type ConditionDraft } from './condition-fields.tsx';
import { RulePreview, useMatches } from './rule-preview.tsx';
import { statusWords } from './rule-words.ts';
import { choicesOf, type Rule, type RuleCondition, type RuleStatus } from './rule.ts';

export interface RuleFormProps {
  /** Initial values of the fields; undefined for a new rule. */
  readonly rule?: Rule;
  /** False once another device has deleted the rule. */
  readonly isListed?: boolean;
  readonly categories: readonly CategoryRow[];
  readonly accounts: readonly AccountRow[];
  /** The currency of typed amounts. */
  readonly currency: string;
  /** `entryIds`: existing entries to apply the rule to. */
  readonly onSave: (rule: Rule, entryIds: readonly string[]) => void;
  readonly onCancel: () => void;
}

/** An "If … then …" sentence to fill in, with a preview of its matches. */
export function RuleForm({
  rule,
  isListed = true,
  categories,
  accounts,
  currency,
  onSave,
  onCancel,
}: RuleFormProps): ReactNode {
  const [needs, setNeeds] = useState<RuleNeeds>(rule?.needs ?? 'all');
  const [drafts, setDrafts] = useState<readonly ConditionDraft[]>(() =>
    (rule?.conditions ?? [firstCondition]).map((condition) => draftOf(condition, currency)),
  );
  const [categoryId, setCategoryId] = useState<string | null>(rule?.categoryId ?? null);
  const [payee, setPayee] = useState(rule?.payee ?? '');
  const [notes, setNotes] = useState(rule?.notes ?? '');
  const [status, setStatus] = useState<RuleStatus | null>(rule?.status ?? null);
  const [parts, setParts] = useState<readonly RulePartDraft[]>(() => splitDraftsOf(rule?.split ?? []));
  const [toExisting, setToExisting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const read = conditionsOf(drafts, currency);
  const matches = useMatches(read.ok ? { needs, conditions: read.value } : null);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!read.ok) return setProblem(read.problem);
    const split = splitOf(parts);
    if (split === undefined) return setProblem('Enter percentages above 0 that leave something for the last part.');
    const wantedCategory = split.length > 0 ? null : categoryId;
    if (wantedCategory === null && split.length === 0 && payee.trim() === '' && notes.trim() === '' && status === null)
      return setProblem('Choose what to set: a category, a split, a payee, a memo, a status, or several.');
    if (toExisting && matches === undefined) return setProblem('Matching entries are still loading. Try again.');
    onSave(
      {
        needs,
        conditions: read.value,
        categoryId: wantedCategory,
        payee: textOrNull(payee),
        notes: textOrNull(notes),
        status,
        split,
      },
      toExisting ? (matches?.ids ?? []) : [],
    );
  };

  return (
    <form
      className="card form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onCancel();
      }}
      aria-label={rule === undefined ? 'New rule' : 'Edit rule'}
    >
      <div className="conditions">
        <p className="conditions-head">
          If
          {drafts.length > 1 && (
            <select
              aria-label="Conditions to match"
              value={needs}
              onChange={(event) => setNeeds(event.target.value as RuleNeeds)}
            >
              <option value="all">all conditions match</option>
              <option value="any">any condition matches</option>
            </select>
          )}
        </p>
        {drafts.map((condition, index) => (
          <ConditionFields
            key={condition.key}
            condition={condition}
            number={index + 1}
            accounts={accounts}
            onChange={(change) =>
              setDrafts(drafts.map((other, at) => (at === index ? { ...other, ...change } : other)))
            }
            onRemove={drafts.length === 1 ? undefined : () => setDrafts(drafts.filter((_, at) => at !== index))}
          />
        ))}
        <div>
          <button
            type="button"
            className="quiet"
            onClick={() => setDrafts([...drafts, draftOf(firstCondition, currency)])}
          >
            Add a condition
          </button>
        </div>
      </div>
      <div className="fields">
        {parts.length === 0 && (
          <label>
            Set the category to
            <CategorySelect categories={categories} value={categoryId} onChange={setCategoryId} />
          </label>
        )}
        <label>
          Set the payee to
          <input
            value={payee}
            onChange={(event) => setPayee(event.target.value)}
            placeholder="As it is"
            autoComplete="off"
          />
        </label>
        <label>
          Set the memo to
          <input
            value={notes}
            onChange={(event) => setNotes(event.target.value)}
            placeholder="As it is"
            autoComplete="off"
          />
        </label>
        <label>
          Set the status to
          <select
            value={status ?? ''}
            onChange={(event) => setStatus(event.target.value === '' ? null : (event.target.value as RuleStatus))}
          >
            <option value="">As it is</option>
            {Object.entries(statusWords).map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        </label>
      </div>
      {parts.length > 0 ? (
        <RuleSplitFields parts={parts} categories={categories} onChange={setParts} />
      ) : (
        <div>
          <button type="button" className="quiet" onClick={() => setParts(newSplit(categoryId))}>
            Split instead
          </button>
        </div>
      )}
      {read.ok && <RulePreview matches={matches} />}
      {matches !== undefined && matches.ids.length > 0 && (
        <label className="check">
          <input type="checkbox" checked={toExisting} onChange={(event) => setToExisting(event.target.checked)} />
          Also apply to{' '}
          {matches.ids.length === 1 ? 'this entry' : `these ${matches.ids.length.toLocaleString(locale)} entries`}
        </label>
      )}
      {!isListed && (
        <p className="problem" role="status">
          This rule was deleted in the meantime. Save it to add it again.
        </p>
      )}
      <FormEnd problem={problem} submit={rule === undefined ? 'Add rule' : 'Save'} onCancel={onCancel} />
    </form>
  );
}

const firstCondition: RuleCondition = { field: 'payee', test: 'contains', value: '' };

function draftOf(condition: RuleCondition, currency: string): ConditionDraft {
  const isAmount = condition.field === 'amount' && condition.value !== '';
  return {
    ...condition,
    key: crypto.randomUUID(),
    value: isAmount ? formatMinorForEditing(Number(condition.value), currency, decimalMarkOf(locale)) : condition.value,
  };
}

/** The conditions of the drafts, or the problem with one of them. */
function conditionsOf(drafts: readonly ConditionDraft[], currency: string): Result<readonly RuleCondition[], string> {
  const conditions: RuleCondition[] = [];
  for (const { field, test, value } of drafts) {
    const wanted = test === 'one-of' ? choicesOf(value).join('\n') : value.trim();
    if (wanted === '') return fail('Enter what to match.');
    const amount = field === 'amount' ? parseTypedAmount(value, currency, decimalMarkOf(locale)) : null;
    if (amount !== null && !amount.ok) return fail(amountSentence(amount.problem));
    conditions.push({ field, test, value: amount === null ? wanted : String(Math.abs(amount.value)) });
  }
  return succeed(conditions);
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}
