import { useId, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import { amountSentence } from '../money/amount-sentence.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import type { RuleOutcome, RuleSubject } from '../rules/apply.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { locale, today } from '../shell/locale.ts';
import type { PartFields } from '../splits/part-changes.ts';
import { splitAmount } from '../rules/rule-split.ts';
import { draftsOf, partsOf, remainder, type PartDraft, type Sign } from '../splits/part-draft.ts';
import { PartsFields } from '../splits/parts-fields.tsx';
import type { TransferFields } from '../transfers/actions.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { EntryFields } from './actions.ts';
import { CategorySelect } from './category-select.tsx';
import { PayeeList } from './payee-list.tsx';

/** The submitted values of the form. */
export type FormResult =
  | {
      readonly kind: 'entry';
      readonly fields: EntryFields;
      readonly parts: readonly PartFields[];
      /** The user has chosen neither a category nor "none", so rules and the payee's last entry may set one. */
      readonly categoryIsOpen: boolean;
    }
  | { readonly kind: 'transfer'; readonly otherAccount: AccountRow; readonly fields: TransferFields };

export interface EntryFormProps {
  /** Initial values of the fields; undefined for a new entry. */
  readonly entry?: LedgerRow;
  readonly parts?: readonly PartRow[];
  readonly account: AccountRow;
  /** Accounts to transfer to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly categories: readonly CategoryRow[];
  /** The suggestion for such an entry, from rules and the payee's last entry. Requested for new entries. */
  readonly suggest?: (subject: RuleSubject) => Promise<RuleOutcome>;
  readonly onSave: (result: FormResult) => void;
  readonly onCancel: () => void;
  readonly onDelete?: () => void;
  /** Opens the shared note and discards unsaved edits of the form. */
  readonly onNote?: () => void;
  /** Opens the history and discards unsaved edits of the form. */
  readonly onHistory?: () => void;
  /** Shown for a reconciled entry: changes it back to cleared. */
  readonly onUnlock?: () => void;
}

/** The fields of a ledger entry, for a new entry or in place of the row being edited. Enter saves, Escape cancels. */
export function EntryForm({
  entry,
  parts: savedParts = [],
  account,
  otherAccounts,
  categories,
  suggest,
  onSave,
  onCancel,
  onDelete,
  onNote,
  onHistory,
  onUnlock,
}: EntryFormProps): ReactNode {
  const id = useId();
  const { currency } = account;
  const mark = decimalMarkOf(locale);
  const editing = (minor: number): string => formatMinorForEditing(Math.abs(minor), currency, mark);
  const firstSign: Sign = entry !== undefined && entry.amountMinor > 0 ? 1 : -1;
  const [date, setDate] = useState(entry?.date ?? today());
  const [payee, setPayee] = useState(entry?.payee ?? '');
  const [notes, setNotes] = useState(entry?.notes ?? '');
  const [categoryId, setCategoryId] = useState(entry?.categoryId ?? null);
  const [categoryChosen, setCategoryChosen] = useState(false);
  const [amount, setAmount] = useState(entry === undefined ? '' : editing(entry.amountMinor));
  const [sign, setSign] = useState<Sign>(firstSign);
  const [otherAccountId, setOtherAccountId] = useState(entry?.otherAccountId ?? null);
  const [otherAmount, setOtherAmount] = useState('');
  const [drafts, setDrafts] = useState<readonly PartDraft[]>(() => draftsOf(savedParts, firstSign, currency, mark));
  const [problem, setProblem] = useState<string | null>(null);

  const otherAccount =
    otherAccountId === null ? undefined : otherAccounts.find((candidate) => candidate.id === otherAccountId);
  const isTransfer = otherAccountId !== null;
  const isSaved = entry !== undefined;
  const isSavedTransfer = isSaved && entry.transferId !== null;
  const locked = entry?.locked === 1;
  const amountParsed = parseTypedAmount(amount, currency, mark);
  const amountMinor = !amountParsed.ok ? 0 : amountParsed.value === 0 ? 0 : amountParsed.value * sign;
  const parts = partsOf(drafts, sign, currency, mark);
  const restMinor = parts === undefined ? undefined : remainder(amountMinor, parts) * BigInt(sign);
  const offBudget = account.kind === 'off-budget';
  const categorySide =
    otherAccount !== undefined ? sideWithCategory(account.kind, otherAccount.kind) : offBudget ? 'none' : 'this';
  const takesCategory = drafts.length === 0 && (categorySide === 'this' || (categorySide === 'other' && !isSaved));
  const otherCurrency = otherAccount !== undefined && otherAccount.currency !== currency ? otherAccount.currency : null;

  // Phone keyboards have no minus key for amounts, so the direction is a separate control. Typing a sign changes that
  // control.
  const typeAmount = (text: string): void => {
    const typed = /^\s*([+\-\u2212])/u.exec(text);
    if (typed !== null) setSign(typed[1] === '+' ? 1 : -1);
    setAmount(typed === null ? text : text.slice(typed[0].length));
  };

  const askForSuggestion = (): void => {
    if (suggest === undefined || isTransfer || payee.trim() === '') return;
    // A suggestion is optional: if it fails, the fields stay unchanged, and saving reports the error.
    suggest({ payee: payee.trim(), notes: notes.trim(), amountMinor, accountId: account.id }).then(
      (known) => {
        setPayee((typed) => (typed === payee ? known.payee : typed));
        setNotes((typed) => (typed === notes ? known.notes : typed));
        if (!categoryChosen && known.categoryId !== null) setCategoryId(known.categoryId);
        if (!categoryChosen && categoryId === null && amountMinor !== 0 && !offBudget && known.split.length > 0)
          setDrafts((typed) =>
            typed.length > 0
              ? typed
              : splitAmount(amountMinor, known.split).map((part) => ({
                  key: crypto.randomUUID(),
                  id: '',
                  notes: '',
                  categoryId: part.categoryId,
                  amount: formatMinorForEditing(BigInt(part.amountMinor) * BigInt(sign), currency, mark),
                })),
          );
      },
      () => undefined,
    );
  };

  const addPart = (): void => {
    const rest = restMinor === undefined || restMinor === 0n ? '' : formatMinorForEditing(restMinor, currency, mark);
    const fresh = (amountText: string, category: string | null): PartDraft => ({
      key: crypto.randomUUID(),
      id: '',
      categoryId: category,
      amount: amountText,
      notes: '',
    });
    if (drafts.length > 0) return setDrafts([...drafts, fresh(rest, null)]);
    setDrafts([fresh(rest, categoryId), fresh('', null)]);
    setCategoryId(null);
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!amountParsed.ok) return setProblem(amountSentence(amountParsed.problem));
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return setProblem('Enter a date.');
    if (isTransfer) return saveTransfer();
    if (parts === undefined) return setProblem('Enter a valid amount for each part.');
    if (parts.length > 0 && restMinor !== 0n) return setProblem('The parts do not add up to the total yet.');
    onSave({
      kind: 'entry',
      fields: {
        date,
        payee: payee.trim(),
        notes: notes.trim(),
        categoryId: takesCategory ? categoryId : null,
        amountMinor,
      },
      parts,
      categoryIsOpen: takesCategory && !categoryChosen,
    });
  };

  const saveTransfer = (): void => {
    if (otherAccount === undefined) return setProblem('Choose the other account.');
    let otherMinor =
      entry !== undefined && amountMinor === entry.amountMinor && entry.otherMinor !== null
        ? entry.otherMinor
        : -amountMinor;
    if (otherCurrency !== null && (!isSavedTransfer || otherAmount !== '')) {
      const parsed = parseTypedAmount(otherAmount, otherCurrency, mark);
      if (!parsed.ok) return setProblem(`In ${otherCurrency}: ${amountSentence(parsed.problem)}`);
      otherMinor = -sign * Math.abs(parsed.value);
    } else if (otherCurrency !== null) otherMinor = entry?.otherMinor ?? 0;
    onSave({
      kind: 'transfer',
      otherAccount,
      fields: { date, notes: notes.trim(), amountMinor, otherMinor, categoryId: takesCategory ? categoryId : null },
    });
  };

  const leaveOnEscape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
  };

  return (
    <form
      className="form entry-form"
      onSubmit={submit}
      onKeyDown={leaveOnEscape}
      aria-label={isSaved ? 'Edit entry' : 'New entry'}
    >
      {locked && (
        <p className="lock">
          <span>This entry is reconciled. Its date and amount are locked.</span>
          <button type="button" onClick={onUnlock}>
            Unlock
          </button>
        </p>
      )}
      <div className="fields">
        <label>
          Date
          <input
            type="date"
            value={date}
            onChange={(event) => setDate(event.target.value)}
            required
            disabled={locked}
          />
        </label>
        {isTransfer ? (
          <label className="wide">
            {sign === -1 ? 'To account' : 'From account'}
            <select
              value={otherAccountId}
              onChange={(event) => setOtherAccountId(event.target.value)}
              disabled={isSavedTransfer}
              autoFocus={!isSavedTransfer}
            >
              {otherAccounts.map((candidate) => (
                <option key={candidate.id} value={candidate.id}>
                  {candidate.name}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <label className="wide">
            Payee
            <input
              value={payee}
              onChange={(event) => setPayee(event.target.value)}
              onBlur={askForSuggestion}
              list={`${id}-payees`}
              autoComplete="off"
              autoFocus
            />
            <PayeeList id={`${id}-payees`} />
          </label>
        )}
        {takesCategory && (
          <label>
            Category
            <CategorySelect
              categories={categories}
              value={categoryId}
              onChange={(chosen) => {
                setCategoryChosen(true);
                setCategoryId(chosen);
              }}
            />
          </label>
        )}
        <label>
          Amount in {currency}
          <input
            className="amount-input"
            value={amount}
            onChange={(event) => typeAmount(event.target.value)}
            onBlur={askForSuggestion}
            inputMode="decimal"
            autoComplete="off"
            disabled={locked}
          />
        </label>
        {otherCurrency !== null && (
          <label>
            {sign === -1 ? 'Amount received in' : 'Amount sent in'} {otherCurrency}
            <input
              className="amount-input"
              value={otherAmount}
              placeholder={
                entry === undefined || entry.otherMinor === null
                  ? ''
                  : formatMinor(Math.abs(entry.otherMinor), otherCurrency, locale)
              }
              onChange={(event) => setOtherAmount(event.target.value)}
              inputMode="decimal"
              autoComplete="off"
              disabled={locked}
            />
          </label>
        )}
        <fieldset className="direction" aria-label="Direction" disabled={locked}>
          <label>
            <input type="radio" name={`${id}-direction`} checked={sign === -1} onChange={() => setSign(-1)} />
            Money out
          </label>
          <label>
            <input type="radio" name={`${id}-direction`} checked={sign === 1} onChange={() => setSign(1)} />
            Money in
          </label>
        </fieldset>
        <label className="wide">
          Memo
          <textarea
            value={notes}
            onChange={(event) => setNotes(event.target.value)}
            onBlur={askForSuggestion}
            rows={notes.includes('\n') ? 3 : 1}
          />
        </label>
      </div>
      {drafts.length > 0 && (
        <PartsFields
          parts={drafts}
          categories={categories}
          currency={currency}
          restMinor={restMinor}
          onChange={setDrafts}
          onAdd={addPart}
        />
      )}
      <FormEnd problem={problem} submit={isSaved ? 'Save' : 'Add entry'} onCancel={onCancel}>
        {!isTransfer && !offBudget && drafts.length === 0 && (
          <button type="button" className="quiet" onClick={addPart}>
            Split
          </button>
        )}
        {!isSavedTransfer && !locked && drafts.length === 0 && otherAccounts.length > 0 && (
          <button
            type="button"
            className="quiet"
            onClick={() => setOtherAccountId(isTransfer ? null : (otherAccounts[0]?.id ?? null))}
          >
            {isTransfer ? 'Not a transfer' : 'Transfer'}
          </button>
        )}
        {onNote !== undefined && (
          <button type="button" className="quiet" onClick={onNote}>
            Note
          </button>
        )}
        {onHistory !== undefined && (
          <button type="button" className="quiet" onClick={onHistory}>
            History
          </button>
        )}
        {onDelete !== undefined && !locked && (
          <button type="button" className="danger" onClick={onDelete}>
            Delete
          </button>
        )}
      </FormEnd>
    </form>
  );
}
