import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { fullYearSentence, isDay } from '../calendar/months.ts';
import { CategorySelect } from '../entries/category-select.tsx';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { ScheduleRow } from '../queries/schedules.ts';
import type { ScheduleUnit } from '../schema.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import { locale, today } from '../shell/locale.ts';
import type { ScheduleFields } from './actions.ts';
import { unitWords } from './repetition-words.ts';

export interface ScheduleFormProps {
  readonly schedule?: ScheduleRow;
  /** False once the schedule is no longer in the list: it was deleted, or its account was closed, by another device. */
  readonly isListed?: boolean;
  /** Not empty. */
  readonly accounts: readonly AccountRow[];
  readonly categories: readonly CategoryRow[];
  readonly onSave: (fields: ScheduleFields) => void;
  readonly onCancel: () => void;
  readonly onDelete?: () => void;
}

/** Form for a recurring entry: its fields and its repetition. */
export function ScheduleForm({
  schedule,
  isListed = true,
  accounts,
  categories,
  onSave,
  onCancel,
  onDelete,
}: ScheduleFormProps): ReactNode {
  const id = useId();
  const mark = decimalMarkOf(locale);
  const [accountId, setAccountId] = useState(schedule?.accountId ?? accounts[0]?.id ?? '');
  const account = accounts.find((candidate) => candidate.id === accountId);
  const currency = account?.currency ?? schedule?.currency;
  const [otherAccountId, setOtherAccountId] = useState(schedule?.otherAccountId ?? null);
  const { others, other, isTransfer, mustChooseOther } = transferOf(accounts, { accountId, currency, otherAccountId });
  const takesCategory =
    account !== undefined &&
    (isTransfer
      ? other !== undefined && sideWithCategory(account.kind, other.kind) !== 'none'
      : account.kind !== 'off-budget');
  const [payee, setPayee] = useState(schedule?.payee ?? '');
  const [notes, setNotes] = useState(schedule?.notes ?? '');
  const [categoryId, setCategoryId] = useState(schedule?.categoryId ?? null);
  const [amount, setAmount] = useState(
    schedule === undefined ? '' : formatMinorForEditing(Math.abs(schedule.amountMinor), schedule.currency, mark),
  );
  const [moneyIn, setMoneyIn] = useState(schedule !== undefined && schedule.amountMinor > 0);
  const [firstDate, setFirstDate] = useState(schedule?.firstDate ?? today());
  const [every, setEvery] = useState(String(schedule?.every ?? 1));
  const [unit, setUnit] = useState<ScheduleUnit>(schedule?.unit ?? 'month');
  const [lastDate, setLastDate] = useState(schedule?.lastDate ?? '');
  const [problem, setProblem] = useState<string | null>(null);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (account === undefined || mustChooseOther) return setProblem('Choose an account.');
    const parsed = parseTypedAmount(amount, account.currency, mark);
    if (!parsed.ok) return setProblem(amountSentence(parsed.problem));
    if (!isTransfer && payee.trim() === '') return setProblem('Enter a payee.');
    if (firstDate === '') return setProblem('Enter a first date.');
    if (!isDay(firstDate) || (lastDate !== '' && !isDay(lastDate))) return setProblem(fullYearSentence);
    const stride = Number(every);
    if (!Number.isInteger(stride) || stride < 1 || stride > 1_000)
      return setProblem('Enter a whole number of at least 1.');
    const minor = Math.abs(parsed.value);
    const isIn = !isTransfer && moneyIn;
    onSave({
      accountId,
      otherAccountId: other?.id ?? null,
      payee: isTransfer ? '' : payee.trim(),
      notes: notes.trim(),
      categoryId: takesCategory ? categoryId : null,
      amountMinor: isIn || minor === 0 ? minor : -minor,
      firstDate,
      every: stride,
      unit,
      lastDate: lastDate === '' ? null : lastDate,
    });
  };

  return (
    <form
      className="card form entry-form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onCancel();
      }}
      aria-label={schedule === undefined ? 'New scheduled entry' : 'Edit scheduled entry'}
    >
      <div className="fields">
        {!isTransfer && (
          <label className="wide">
            Payee
            <input value={payee} onChange={(event) => setPayee(event.target.value)} autoComplete="off" autoFocus />
          </label>
        )}
        <label className={isTransfer ? 'wide' : ''}>
          {isTransfer ? 'From account' : 'Account'}
          <select value={accountId} onChange={(event) => setAccountId(event.target.value)}>
            {account === undefined && <option value={accountId}>Choose an account</option>}
            {accounts.map((candidate) => (
              <option key={candidate.id} value={candidate.id}>
                {candidate.name}
              </option>
            ))}
          </select>
        </label>
        {isTransfer && (
          <label className="wide">
            To account
            <select
              value={other?.id ?? otherAccountId ?? ''}
              onChange={(event) => setOtherAccountId(event.target.value)}
              autoFocus
            >
              {other === undefined && <option value={otherAccountId ?? ''}>Choose an account</option>}
              {others.map((candidate) => (
                <option key={candidate.id} value={candidate.id}>
                  {candidate.name}
                </option>
              ))}
            </select>
          </label>
        )}
        {takesCategory && (
          <label>
            Category
            <CategorySelect categories={categories} value={categoryId} onChange={setCategoryId} />
          </label>
        )}
        <label>
          Amount in {currency}
          <input
            className="amount-input"
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
            inputMode="decimal"
            autoComplete="off"
          />
        </label>
        {!isTransfer && (
          <fieldset className="direction" aria-label="Direction">
            <label>
              <input type="radio" name={`${id}-direction`} checked={!moneyIn} onChange={() => setMoneyIn(false)} />
              Money out
            </label>
            <label>
              <input type="radio" name={`${id}-direction`} checked={moneyIn} onChange={() => setMoneyIn(true)} />
              Money in
            </label>
          </fieldset>
        )}
        <label className="wide">
          Memo
          <input value={notes} onChange={(event) => setNotes(event.target.value)} autoComplete="off" />
        </label>
        <label>
          First date
          <input type="date" value={firstDate} onChange={(event) => setFirstDate(event.target.value)} required />
        </label>
        <div className="every" role="group" aria-label="How often">
          <label>
            Every
            <input type="number" min={1} max={1000} value={every} onChange={(event) => setEvery(event.target.value)} />
          </label>
          <select aria-label="Unit" value={unit} onChange={(event) => setUnit(event.target.value as ScheduleUnit)}>
            {Object.entries(unitWords).map(([value, [one, several]]) => (
              <option key={value} value={value}>
                {every === '1' ? one : several}
              </option>
            ))}
          </select>
        </div>
        <label>
          Last date (optional)
          <input type="date" value={lastDate} onChange={(event) => setLastDate(event.target.value)} />
        </label>
      </div>
      {!isListed && (
        <p className="problem" role="status">
          {isOpen(accounts, schedule?.accountId) && isOpen(accounts, schedule?.otherAccountId)
            ? 'This scheduled entry was deleted in the meantime. Save it to add it again.'
            : 'Its account was closed or deleted in the meantime. Choose an open account before you save.'}
        </p>
      )}
      <FormEnd problem={problem} submit={schedule === undefined ? 'Add' : 'Save'} onCancel={onCancel}>
        {(isTransfer || others.length > 0) && (
          <button
            type="button"
            className="quiet"
            onClick={() => setOtherAccountId(isTransfer ? null : (others[0]?.id ?? null))}
          >
            {isTransfer ? 'Not a transfer' : 'Transfer'}
          </button>
        )}
        {onDelete !== undefined && isListed && (
          <button type="button" className="danger" onClick={onDelete}>
            Delete
          </button>
        )}
      </FormEnd>
    </form>
  );
}

/** Whether an account, if one is used, is open. */
function isOpen(accounts: readonly AccountRow[], usedId: string | null | undefined): boolean {
  return usedId === null || accounts.some(({ id }) => id === usedId);
}

interface Transfer {
  /** The accounts that money may be transferred to. */
  readonly others: readonly AccountRow[];
  /** Undefined if it is no transfer, or if the user must choose the account. */
  readonly other: AccountRow | undefined;
  readonly isTransfer: boolean;
  /** The account was closed: no other one may take its place unless the user chooses it. */
  readonly mustChooseOther: boolean;
}

function transferOf(
  accounts: readonly AccountRow[],
  chosen: { readonly accountId: string; readonly currency: string | undefined; readonly otherAccountId: string | null },
): Transfer {
  const { accountId, currency, otherAccountId } = chosen;
  // A scheduled transfer stays in one currency, because the exchange rate of a later day is unknown.
  const others = accounts.filter((candidate) => candidate.id !== accountId && candidate.currency === currency);
  const mustChooseOther = !isOpen(accounts, otherAccountId);
  const other =
    otherAccountId === null || mustChooseOther
      ? undefined
      : (others.find(({ id }) => id === otherAccountId) ?? others[0]);
  return { others, other, isTransfer: mustChooseOther || other !== undefined, mustChooseOther };
}
