import type { EntryStatus, RuleField, RuleNeeds, RuleTest } from '../schema.ts';

export interface RuleRow {
  readonly id: string;
  readonly field: RuleField;
  readonly test: RuleTest;
  readonly value: string;
  /** JSON; see schema.ts. */
  readonly moreConditions: string;
  readonly needs: RuleNeeds;
  readonly categoryId: string | null;
  readonly payee: string | null;
  readonly notes: string | null;
  readonly status: EntryStatus | null;
  /** JSON; see schema.ts. */
  readonly split: string;
}

/** The rules, in the order in which they are tried. No parameters. */
export const rulesInOrder = `
  SELECT id, field, test, value, moreConditions, needs, categoryId, payee, notes, status, split FROM rules ORDER BY createdAtMs, id`;

export interface RuledEntryRow {
  readonly id: string;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly amountMinor: number;
  readonly accountId: string;
  readonly currency: string;
}

/** The entries that rules apply to, newest first: all but transfers. No parameters. */
export const entriesForRules = `
  SELECT entry.id, entry.date, entry.payee, entry.notes, entry.amountMinor, entry.accountId, account.currency
  FROM entries AS entry JOIN accounts AS account ON account.id = entry.accountId
  WHERE entry.transferId IS NULL
  ORDER BY entry.date DESC`;
