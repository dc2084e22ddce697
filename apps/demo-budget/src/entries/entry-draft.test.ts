import { describe, expect, it } from 'vitest';
import type { AccountRow } from '../queries/accounts.ts';
import type { LedgerRow } from '../queries/ledger.ts';
import type { RuleOutcome } from '../rules/apply.ts';
import {
  draftFacts,
  newDraft,
  submitDraft,
  withAccount,
  withNewPart,
  withSuggestion,
  withTypedAmount,
  type DraftContext,
  type EntryDraft,
} from './entry-draft.ts';

const accountOf = (id: string, fields: Partial<AccountRow> = {}): AccountRow =>
  ({ id, name: id, kind: 'checking', currency: 'EUR', ...fields }) as AccountRow;

const context: DraftContext = {
  account: accountOf('giro'),
  entry: undefined,
  otherAccounts: [accountOf('savings'), accountOf('dollars', { currency: 'USD' })],
  mark: 'point',
};

const draftOf = (fields: Partial<EntryDraft>): EntryDraft => ({ ...newDraft(context, [], '2026-03-01'), ...fields });

const suggestionOf = (fields: Partial<RuleOutcome>): RuleOutcome => ({
  payee: 'Corner Shop',
  notes: '',
  categoryId: null,
  status: null,
  split: [],
  ...fields,
});

describe('an entry draft', () => {
  it('moves a typed sign to the direction', () => {
    expect(withTypedAmount(draftOf({}), '+12')).toMatchObject({ sign: 1, amount: '12' });
    expect(withTypedAmount(draftOf({ sign: 1 }), '−12')).toMatchObject({ sign: -1, amount: '12' });
    expect(withTypedAmount(draftOf({ sign: 1 }), '12')).toMatchObject({ sign: 1, amount: '12' });
  });

  it.each(['-€12.00', '€ -12.00', 'CHF-12.00', '\u200e-12.00 \u200f₪', '(12.00)', '12.00 DR', '12.00-', '−12'])(
    'takes a pasted %s as money out',
    (text) => {
      expect(submitDraft(withTypedAmount(draftOf({}), text), context)).toMatchObject({
        fields: { amountMinor: -1200 },
      });
      const isOut = !text.endsWith('-');
      expect(withTypedAmount(draftOf({ sign: 1 }), text).sign).toBe(isOut ? -1 : 1);
    },
  );

  it('keeps the direction of a sum', () => {
    const minorOf = (draft: EntryDraft): number => draftFacts(draft, context).amountMinor;
    for (const text of ['1', '10', '10-', '10-3']) expect(withTypedAmount(draftOf({ sign: 1 }), text).sign).toBe(1);
    expect(minorOf(withTypedAmount(draftOf({ sign: 1 }), '10-3'))).toBe(700);
    expect(minorOf(withTypedAmount(draftOf({}), '(4+6)'))).toBe(-1000);
  });

  it('gives the rest of the amount to a new part, and the category to the first', () => {
    const split = withNewPart(draftOf({ amount: '10', categoryId: 'food' }), context);
    expect(split.categoryId).toBeNull();
    expect(split.parts).toMatchObject([
      { amount: '10.00', categoryId: 'food' },
      { amount: '', categoryId: null },
    ]);
    const [first] = split.parts;
    const third = withNewPart({ ...split, parts: [{ ...first!, amount: '4' }] }, context);
    expect(third.parts[1]).toMatchObject({ amount: '6.00', categoryId: null });
  });

  it('keeps what was typed when the user chooses another account', () => {
    const transfer = draftOf({ amount: '12', payee: 'Kiosk', otherAccountId: 'savings' });
    const inSavings = { ...context, account: accountOf('savings'), otherAccounts: [accountOf('giro')] };
    expect(withAccount(transfer, inSavings)).toEqual({ ...transfer, otherAccountId: 'giro' });
    expect(withAccount(transfer, { ...inSavings, otherAccounts: [] })).toEqual({ ...transfer, otherAccountId: null });
    const split = withNewPart(draftOf({ amount: '12' }), context);
    expect(withAccount(split, inSavings)).toEqual(split);
    const pension = accountOf('pension', { kind: 'off-budget' });
    expect(withAccount(split, { ...context, account: pension })).toEqual({ ...split, parts: [] });
  });

  it('reports the first problem as a sentence', () => {
    expect(submitDraft(draftOf({ amount: 'x' }), context)).toEqual({ problem: expect.stringMatching(/\.$/) as string });
    expect(submitDraft(draftOf({ amount: '1', date: '' }), context)).toEqual({ problem: 'Enter a date.' });
    expect(submitDraft(draftOf({ amount: '1', date: '0026-03-01' }), context)).toEqual({
      problem: expect.stringContaining('four digits') as string,
    });
    expect(submitDraft(draftOf({ amount: '1', otherAccountId: 'gone' }), context)).toEqual({
      problem: 'Choose the other account.',
    });
    const split = withNewPart(draftOf({ amount: '10' }), context);
    expect(submitDraft({ ...split, amount: '11' }, context)).toEqual({
      problem: 'The parts do not add up to the total yet.',
    });
  });

  it('leaves the category undecided until the user chooses one', () => {
    expect(submitDraft(draftOf({ amount: '1' }), context)).toMatchObject({ kind: 'entry', categoryIsOpen: true });
    expect(submitDraft(draftOf({ amount: '1', categoryChosen: true }), context)).toMatchObject({
      fields: { amountMinor: -100, categoryId: null },
      categoryIsOpen: false,
    });
  });

  it('requires the other amount for a transfer between currencies', () => {
    const transfer = draftOf({ amount: '10', otherAccountId: 'dollars' });
    expect(draftFacts(transfer, context).otherCurrency).toBe('USD');
    expect(submitDraft(transfer, context)).toEqual({ problem: expect.stringMatching(/^In USD: /) as string });
    expect(submitDraft({ ...transfer, otherAmount: '11' }, context)).toMatchObject({
      kind: 'transfer',
      fields: { amountMinor: -1000, otherMinor: 1100 },
    });
    expect(submitDraft({ ...transfer, otherAmount: '-11' }, context)).toMatchObject({ fields: { otherMinor: 1100 } });
    expect(submitDraft({ ...transfer, otherAccountId: 'savings' }, context)).toMatchObject({
      fields: { amountMinor: -1000, otherMinor: 1000 },
    });
  });

  it('moves money from one account to the other, whichever direction a saved transfer gets', () => {
    const entry = { amountMinor: -1000, otherMinor: 1100, transferId: 't', otherAccountId: 'dollars' } as LedgerRow;
    const saved = { ...context, entry };
    const transfer = newDraft(saved, [], '2026-03-01');
    const minors = (draft: EntryDraft): unknown => submitDraft({ ...draft, date: '2026-03-01' }, saved);
    expect(minors(transfer)).toMatchObject({ fields: { amountMinor: -1000, otherMinor: 1100 } });
    expect(minors({ ...transfer, sign: 1 })).toMatchObject({ fields: { amountMinor: 1000, otherMinor: -1100 } });
    expect(minors({ ...transfer, otherAmount: '12' })).toMatchObject({
      fields: { amountMinor: -1000, otherMinor: 1200 },
    });
  });

  it('makes the two sides of a transfer match again after concurrent changes, unless one is reconciled', () => {
    const minors = (otherAccountId: string, fields: Partial<LedgerRow>): unknown => {
      const entry = { amountMinor: -1000, transferId: 't', otherAccountId, date: '2026-03-01', payee: '', notes: '' };
      const saved = { ...context, entry: { ...entry, ...fields } as LedgerRow };
      return submitDraft(newDraft(saved, [], '2026-03-01'), saved);
    };
    expect(minors('savings', { otherMinor: 900 })).toMatchObject({ fields: { amountMinor: -1000, otherMinor: 1000 } });
    expect(minors('savings', { otherMinor: 900, locked: 1 })).toMatchObject({ fields: { otherMinor: 900 } });
    expect(minors('dollars', { otherMinor: -1100 })).toMatchObject({
      fields: { amountMinor: -1000, otherMinor: 1100 },
    });
    expect(minors('dollars', { otherMinor: -1100, locked: 1 })).toMatchObject({ fields: { otherMinor: -1100 } });
  });
});

describe('a suggestion', () => {
  const asked = draftOf({ payee: 'corner', amount: '10' });

  it('fills the fields that the user has not changed since it was requested', () => {
    const suggestion = suggestionOf({ notes: 'weekly', categoryId: 'food' });
    expect(withSuggestion(asked, asked, suggestion, context)).toMatchObject({
      payee: 'Corner Shop',
      notes: 'weekly',
      categoryId: 'food',
    });
    const typed = { ...asked, payee: 'corner b', categoryId: 'fun', categoryChosen: true };
    expect(withSuggestion(typed, asked, suggestion, context)).toMatchObject({
      payee: 'corner b',
      notes: 'weekly',
      categoryId: 'fun',
    });
  });

  it('splits an entry that has an amount and no category', () => {
    const suggestion = suggestionOf({
      split: [
        { categoryId: 'food', percent: 30 },
        { categoryId: 'fun', percent: null },
      ],
    });
    expect(withSuggestion(asked, asked, suggestion, context).parts).toMatchObject([
      { categoryId: 'food', amount: '3.00' },
      { categoryId: 'fun', amount: '7.00' },
    ]);
    expect(withSuggestion({ ...asked, amount: '' }, asked, suggestion, context).parts).toEqual([]);
    const divided = withNewPart(asked, context);
    expect(withSuggestion(divided, asked, suggestion, context).parts).toEqual(divided.parts);
    const offBudget = { ...context, account: accountOf('loan', { kind: 'off-budget' }) };
    expect(withSuggestion(asked, asked, suggestion, offBudget).parts).toEqual([]);
  });
});
