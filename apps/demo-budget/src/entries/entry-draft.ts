import { fullYearSentence, isDay } from '../calendar/months.ts';
import { amountSentence } from '../money/amount-sentence.ts';
import { formatMinorForEditing } from '../money/format.ts';
import { isNegative, type DecimalMark } from '../money/parse.ts';
import { isTypedSum, parseTypedAmount } from '../money/typed-amount.ts';
import type { AccountRow } from '../queries/accounts.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import type { RuleOutcome } from '../rules/apply.ts';
import { splitAmount } from '../rules/rule-split.ts';
import type { PartFields } from '../splits/part-changes.ts';
import { draftsOf, partsOf, remainder, type PartDraft, type Sign } from '../splits/part-draft.ts';
import type { TransferFields } from '../transfers/actions.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { EntryFields } from './actions.ts';

/** The submitted values of an entry form. */
export type FormResult =
  | {
      readonly kind: 'entry';
      readonly fields: EntryFields;
      readonly parts: readonly PartFields[];
      /**
       * Whether the user has chosen neither a category nor "none", so that rules and the payee's last entry may set
       * one.
       */
      readonly categoryIsOpen: boolean;
    }
  | { readonly kind: 'transfer'; readonly otherAccount: AccountRow; readonly fields: TransferFields };

/** The values of an entry form while the user edits them. Amounts are texts as typed. */
export interface EntryDraft {
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly categoryChosen: boolean;
  /** Without a sign, because the direction is a separate control. */
  readonly amount: string;
  readonly sign: Sign;
  /** Null if not a transfer. */
  readonly otherAccountId: string | null;
  /** The amount in the other account's currency; empty keeps the saved one. */
  readonly otherAmount: string;
  readonly parts: readonly PartDraft[];
}

/** The entry and the accounts that a form belongs to. */
export interface DraftContext {
  readonly account: Pick<AccountRow, 'id' | 'kind' | 'currency'>;
  /** Undefined for a new entry. */
  readonly entry: LedgerRow | undefined;
  /** Accounts to transfer to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly mark: DecimalMark;
}

export function newDraft({ account, entry, mark }: DraftContext, parts: readonly PartRow[], today: string): EntryDraft {
  const sign: Sign = entry !== undefined && entry.amountMinor > 0 ? 1 : -1;
  return {
    date: entry?.date ?? today,
    payee: entry?.payee ?? '',
    notes: entry?.notes ?? '',
    categoryId: entry?.categoryId ?? null,
    categoryChosen: false,
    amount: entry === undefined ? '' : formatMinorForEditing(Math.abs(entry.amountMinor), account.currency, mark),
    sign,
    otherAccountId: entry?.otherAccountId ?? null,
    otherAmount: '',
    parts: draftsOf(parts, sign, account.currency, mark),
  };
}

/** Values derived from a draft: parsed amounts, and which fields the form shows. */
export interface DraftFacts {
  /** 0 while the amount is unreadable. */
  readonly amountMinor: number;
  /** Why the amount is unreadable, as a sentence. Null if it is readable. */
  readonly amountProblem: string | null;
  /** Undefined while the amount of a part is unreadable. */
  readonly parts: readonly PartFields[] | undefined;
  /**
   * The remainder that the parts leave, in the entry's direction. Undefined while the amount of a part is unreadable.
   */
  readonly restMinor: bigint | undefined;
  readonly otherAccount: AccountRow | undefined;
  /** The other account's currency, if it differs from this account's. */
  readonly otherCurrency: string | null;
  readonly takesCategory: boolean;
}

export function draftFacts(draft: EntryDraft, { account, entry, otherAccounts, mark }: DraftContext): DraftFacts {
  const { sign } = draft;
  const parsed = parseTypedAmount(draft.amount, account.currency, mark);
  const value = parsed.ok ? parsed.value : 0;
  // A sum may reverse the direction. The minus of a single amount has set it, and must not count twice.
  const unsigned = isTypedSum(draft.amount) ? value : Math.abs(value);
  const amountMinor = unsigned === 0 ? 0 : unsigned * sign;
  const parts = partsOf(draft.parts, sign, account.currency, mark);
  const otherAccount = otherAccounts.find(({ id }) => id === draft.otherAccountId);
  const categorySide =
    otherAccount !== undefined
      ? sideWithCategory(account.kind, otherAccount.kind)
      : account.kind === 'off-budget'
        ? 'none'
        : 'this';
  return {
    amountMinor,
    amountProblem: parsed.ok ? null : amountSentence(parsed.problem),
    parts,
    restMinor: parts === undefined ? undefined : remainder(amountMinor, parts) * BigInt(sign),
    otherAccount,
    otherCurrency:
      otherAccount === undefined || otherAccount.currency === account.currency ? null : otherAccount.currency,
    takesCategory:
      draft.parts.length === 0 && (categorySide === 'this' || (categorySide === 'other' && entry === undefined)),
  };
}

/**
 * The draft with a typed or pasted amount. Phone keyboards have no minus key for amounts, so the direction is a
 * separate control. A sign changes that control, wherever it is: `-12`, `€ -12,00`, `(12.00)`. A minus at the end does
 * not, because it may begin a sum.
 */
export function withTypedAmount(draft: EntryDraft, text: string): EntryDraft {
  const typed = /^[\s\u200e\u200f\u061c]*([+\-\u2212])/u.exec(text);
  if (typed === null) {
    const isOut = isNegative(text) && !isTypedSum(text) && !/[-\u2212]\s*$/u.test(text);
    return { ...draft, amount: text, sign: isOut ? -1 : draft.sign };
  }
  return { ...draft, sign: typed[1] === '+' ? 1 : -1, amount: text.slice(typed[0].length) };
}

/** The draft of a new entry for which the user has chosen another account. */
export function withAccount(draft: EntryDraft, { account, otherAccounts }: DraftContext): EntryDraft {
  return {
    ...draft,
    otherAccountId: draft.otherAccountId === account.id ? (otherAccounts[0]?.id ?? null) : draft.otherAccountId,
    parts: account.kind === 'off-budget' ? [] : draft.parts,
  };
}

/** The draft with one more part, which receives the rest. The first part takes over the entry's category. */
export function withNewPart(draft: EntryDraft, context: DraftContext): EntryDraft {
  const { restMinor = 0n } = draftFacts(draft, context);
  const rest = restMinor === 0n ? '' : formatMinorForEditing(restMinor, context.account.currency, context.mark);
  if (draft.parts.length > 0) return { ...draft, parts: [...draft.parts, newPart(rest, null)] };
  return { ...draft, categoryId: null, parts: [newPart(rest, draft.categoryId), newPart('', null)] };
}

/** The draft with a suggestion that was requested for `asked`. Fields changed since then keep their values. */
export function withSuggestion(
  draft: EntryDraft,
  asked: EntryDraft,
  suggestion: RuleOutcome,
  context: DraftContext,
): EntryDraft {
  const { amountMinor } = draftFacts(draft, context);
  const takesSplit =
    !draft.categoryChosen &&
    draft.categoryId === null &&
    draft.parts.length === 0 &&
    amountMinor !== 0 &&
    context.account.kind !== 'off-budget';
  return {
    ...draft,
    payee: draft.payee === asked.payee ? suggestion.payee : draft.payee,
    notes: draft.notes === asked.notes ? suggestion.notes : draft.notes,
    categoryId: draft.categoryChosen ? draft.categoryId : (suggestion.categoryId ?? draft.categoryId),
    parts: takesSplit
      ? splitAmount(amountMinor, suggestion.split).map((part) =>
          newPart(
            formatMinorForEditing(
              BigInt(part.amountMinor) * BigInt(draft.sign),
              context.account.currency,
              context.mark,
            ),
            part.categoryId,
          ),
        )
      : draft.parts,
  };
}

function newPart(amount: string, categoryId: string | null): PartDraft {
  return { key: crypto.randomUUID(), id: '', categoryId, amount, notes: '' };
}

/** The values to save, or the first problem, as a sentence. */
export function submitDraft(draft: EntryDraft, context: DraftContext): FormResult | { readonly problem: string } {
  const facts = draftFacts(draft, context);
  if (facts.amountProblem !== null) return { problem: facts.amountProblem };
  if (draft.date === '') return { problem: 'Enter a date.' };
  if (!isDay(draft.date)) return { problem: fullYearSentence };
  if (draft.otherAccountId !== null) return submitTransfer(draft, facts, context);
  const { amountMinor, parts, restMinor, takesCategory } = facts;
  if (parts === undefined) return { problem: 'Enter a valid amount for each part.' };
  if (parts.length > 0 && restMinor !== 0n) return { problem: 'The parts do not add up to the total yet.' };
  return {
    kind: 'entry',
    fields: {
      date: draft.date,
      payee: draft.payee.trim(),
      notes: draft.notes.trim(),
      categoryId: takesCategory ? draft.categoryId : null,
      amountMinor,
    },
    parts,
    categoryIsOpen: takesCategory && !draft.categoryChosen,
  };
}

function submitTransfer(
  draft: EntryDraft,
  { amountMinor, otherAccount, otherCurrency, takesCategory }: DraftFacts,
  { entry, mark }: DraftContext,
): FormResult | { readonly problem: string } {
  if (otherAccount === undefined) return { problem: 'Choose the other account.' };
  const savedMinor = entry?.otherMinor ?? null;
  // Sides that differ after concurrent changes are corrected, unless one of them is reconciled.
  let otherMinor = 0 - amountMinor;
  if (savedMinor !== null && entry?.locked === 1) otherMinor = savedMinor;
  else if (otherCurrency !== null && (savedMinor === null || draft.otherAmount !== '')) {
    const parsed = parseTypedAmount(draft.otherAmount, otherCurrency, mark);
    if (!parsed.ok) return { problem: `In ${otherCurrency}: ${amountSentence(parsed.problem)}` };
    otherMinor = -draft.sign * Math.abs(parsed.value);
  } else if (otherCurrency !== null) {
    // The direction may have changed.
    otherMinor = 0 - draft.sign * Math.abs(savedMinor ?? 0);
  }
  return {
    kind: 'transfer',
    otherAccount,
    fields: {
      date: draft.date,
      notes: draft.notes.trim(),
      amountMinor,
      otherMinor,
      categoryId: takesCategory ? draft.categoryId : null,
    },
  };
}
