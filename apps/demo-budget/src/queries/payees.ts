import { searchText } from '@rockpool/client/schema';
import type { SqlParam } from '@rockpool/client';
import { containing } from './text-pattern.ts';

export interface LearnedRow {
  readonly categoryId: string;
}

/** The last category of a payee. Parameter: payee. */
export const learnedCategory = `
  SELECT categoryId FROM entries WHERE payee = ? AND categoryId IS NOT NULL ORDER BY date DESC, enteredAtMs DESC LIMIT 1`;

export interface PayeeUseRow {
  readonly payee: string;
  readonly entryCount: number;
  /** The category of the newest categorised entry; NULL if there is none. */
  readonly categoryId: string | null;
}

/**
 * Payees in use, by name, with the last category of each. Parameters: see `payeeSearch`.
 * The index of the ledger's search also ignores accents.
 */
export const payeesInUse = `
  SELECT payee, count(*) AS entryCount,
         (SELECT latest.categoryId FROM entries AS latest WHERE latest.payee = entries.payee AND latest.categoryId IS NOT NULL ORDER BY latest.date DESC, latest.enteredAtMs DESC LIMIT 1) AS categoryId
  FROM entries
  WHERE payee <> '' AND (payee GLOB ? OR rowid IN (SELECT rowid FROM entriesSearch WHERE entriesSearch MATCH ?))
  GROUP BY payee ORDER BY payee COLLATE NOCASE LIMIT 100`;

/** The parameters of `payeesInUse` for a part of the name, or for the beginnings of its words; empty text for all. */
export function payeeSearch(text: string): readonly SqlParam[] {
  return [containing(text.trim()), `payee : (${searchText(text)})`];
}

export interface PayeeRow {
  readonly payee: string;
}

/** Payee suggestions, most used first. No parameters. */
export const frequentPayees = `
  SELECT payee FROM entries WHERE payee <> '' GROUP BY payee ORDER BY count(*) DESC, payee LIMIT 200`;

export interface UncategorisedRow {
  readonly entryCount: number;
}

/** Whether a row of `entries` has no category but could have one: it is no transfer, not split and not off budget. */
export const lacksCategory = `categoryId IS NULL AND transferId IS NULL
    AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)
    AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = entries.accountId AND kind = 'off-budget')`;

/** The number of uncategorised entries of a payee. Parameter: payee. */
export const uncategorisedOfPayee = `
  SELECT count(*) AS entryCount FROM entries WHERE payee = ? AND ${lacksCategory}`;
