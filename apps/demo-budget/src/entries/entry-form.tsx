import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { decimalMarkOf, formatMinor } from '../money/format.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import type { RuleOutcome, RuleSubject } from '../rules/apply.ts';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale, today } from '../shell/locale.ts';
import { PartsFields } from '../splits/parts-fields.tsx';
import { transferProblem } from '../transfers/transfer-problem.ts';
import {
  draftFacts,
  newDraft,
  submitDraft,
  withAccount,
  withNewPart,
  withSuggestion,
  type DraftContext,
  type FormResult,
} from './entry-draft.ts';
import { EntryFieldset } from './entry-fieldset.tsx';

export interface EntryFormProps extends Omit<DraftContext, 'mark' | 'entry'> {
  /** Initial values of the fields; undefined for a new entry. */
  readonly entry?: DraftContext['entry'];
  readonly parts?: readonly PartRow[];
  readonly categories: readonly CategoryRow[];
  /** Suggests values for an entry, from the rules and the payee's last entry. Called for new entries. */
  readonly suggest?: (subject: RuleSubject) => Promise<RuleOutcome>;
  readonly onSave: (result: FormResult) => void;
  readonly onCancel: () => void;
  readonly onDelete?: () => void;
  /** Opens the shared note in place of the form. Not called while the form has unsaved edits. */
  readonly onNote?: () => void;
  /** Opens the history in place of the form. Not called while the form has unsaved edits. */
  readonly onHistory?: () => void;
  /**
   * While the form is shown, a function that returns whether something else may take its place. If the form has unsaved
   * edits, it returns false, and the form says so.
   */
  readonly mayLeave?: RefObject<() => boolean>;
  /** Shown for a reconciled entry: changes it back to cleared. */
  readonly onUnlock?: () => void;
}

/** The form of a new entry, or of an existing one in place of its row. Enter saves, Escape cancels. */
export function EntryForm(props: EntryFormProps): ReactNode {
  const { entry, parts = [], account, otherAccounts, categories, suggest, onSave, onCancel } = props;
  const context: DraftContext = { account, entry, otherAccounts, mark: decimalMarkOf(locale) };
  const [draft, setDraft] = useState(() => newDraft(context, parts, today()));
  const [draftBefore] = useState(draft);
  const [problem, setProblem] = useState<string | null>(null);
  const [accountId, setAccountId] = useState(account.id);
  if (accountId !== account.id) {
    setAccountId(account.id);
    setDraft((last) => withAccount(last, context));
  }
  const facts = draftFacts(draft, context);
  const locked = entry?.locked === 1;
  const addPart = (): void => setDraft((last) => withNewPart(last, context));

  const askForSuggestion = (): void => {
    if (suggest === undefined || draft.otherAccountId !== null || draft.payee.trim() === '') return;
    const subject = {
      payee: draft.payee.trim(),
      notes: draft.notes.trim(),
      amountMinor: facts.amountMinor,
      accountId: account.id,
    };
    // A suggestion is optional: if it fails, the fields stay the same, and saving reports the error.
    suggest(subject).then(
      (suggestion) => setDraft((last) => withSuggestion(last, draft, suggestion, context)),
      () => undefined,
    );
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const result = submitDraft(draft, context);
    if ('problem' in result) setProblem(result.problem);
    else onSave(result);
  };
  const form = useRef<HTMLFormElement>(null);
  const isLeft = (): boolean => {
    if (draft === draftBefore) return true;
    setProblem('Save or cancel your changes first.');
    form.current?.scrollIntoView({ block: 'nearest' });
    return false;
  };
  const leavingFor = (open: () => void) => (): void => {
    if (isLeft()) open();
  };
  const { mayLeave } = props;
  useEffect(() => {
    if (mayLeave === undefined) return undefined;
    mayLeave.current = isLeft;
    return () => {
      mayLeave.current = alwaysLeft;
    };
  });
  const wasLocked = useRef(locked);
  useEffect(() => {
    // The focused button is gone.
    if (wasLocked.current && !locked) form.current?.querySelector('input')?.focus();
    wasLocked.current = locked;
  }, [locked]);
  const leaveOnEscape = (event: KeyboardEvent): void => {
    if (keyOf(event) === 'Escape') onCancel();
  };

  return (
    <form
      ref={form}
      className="form entry-form"
      onSubmit={submit}
      onKeyDown={leaveOnEscape}
      aria-label={entry === undefined ? 'New entry' : 'Edit entry'}
    >
      {locked && (
        <p className="lock">
          <span>This entry is reconciled. Its date and amount are locked.</span>
          <button type="button" onClick={props.onUnlock}>
            Unlock
          </button>
        </p>
      )}
      {entry !== undefined && <TransferNotice entry={entry} />}
      <EntryFieldset
        draft={draft}
        facts={facts}
        context={context}
        categories={categories}
        onChange={setDraft}
        onFieldLeft={askForSuggestion}
      />
      {draft.parts.length > 0 && (
        <PartsFields
          parts={draft.parts}
          categories={categories}
          currency={account.currency}
          restMinor={facts.restMinor}
          onChange={(changed) => setDraft((last) => ({ ...last, parts: changed }))}
          onAdd={addPart}
        />
      )}
      <FormEnd problem={problem} submit={entry === undefined ? 'Add entry' : 'Save'} onCancel={onCancel}>
        <EntryActions
          {...props}
          {...(props.onNote === undefined ? {} : { onNote: leavingFor(props.onNote) })}
          {...(props.onHistory === undefined ? {} : { onHistory: leavingFor(props.onHistory) })}
          isTransfer={draft.otherAccountId !== null}
          isSplit={draft.parts.length > 0}
          onSplit={addPart}
          onTransfer={(otherAccountId) => setDraft((last) => ({ ...last, otherAccountId }))}
        />
      </FormEnd>
    </form>
  );
}

/** The initial value of `mayLeave`. */
export const alwaysLeft = (): boolean => true;

/** Says what is wrong with a transfer, and the remedy. */
function TransferNotice({ entry }: { readonly entry: LedgerRow }): ReactNode {
  const problem = transferProblem(entry);
  if (problem === null) return null;
  const other = formatMinor(entry.otherMinor ?? 0, entry.otherCurrency ?? entry.currency, locale);
  return (
    <p className="problem">
      {problem === 'no-other-side'
        ? `The other side of this transfer is missing. ${entry.locked === 1 ? 'Unlock this side to choose Transfer or to delete it; saving keeps it as an ordinary entry.' : 'Save to keep this side as an ordinary entry, choose Transfer to add the other side again, or delete this side.'}`
        : `The other side of this transfer has ${other}. ${entry.locked === 1 ? 'Unlock it, then save' : 'Save'} to make both sides fit.`}
    </p>
  );
}

interface EntryActionsProps extends EntryFormProps {
  readonly isTransfer: boolean;
  readonly isSplit: boolean;
  readonly onSplit: () => void;
  /** Called with the account to which to transfer; null if the entry is not a transfer. */
  readonly onTransfer: (otherAccountId: string | null) => void;
}

/** The actions of a form besides saving and cancelling. */
function EntryActions({ isTransfer, isSplit, onSplit, onTransfer, ...form }: EntryActionsProps): ReactNode {
  const { entry, account, otherAccounts, onNote, onHistory, onDelete } = form;
  const locked = entry?.locked === 1;
  const isSavedTransfer = entry !== undefined && entry.otherAccountId !== null;
  const [firstOther] = otherAccounts;
  return (
    <>
      {!isTransfer && account.kind !== 'off-budget' && !isSplit && (
        <button type="button" className="quiet" onClick={onSplit}>
          Split
        </button>
      )}
      {!isSavedTransfer && !locked && !isSplit && firstOther !== undefined && (
        <button type="button" className="quiet" onClick={() => onTransfer(isTransfer ? null : firstOther.id)}>
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
    </>
  );
}
