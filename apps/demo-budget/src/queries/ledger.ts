import type { SqlParam, SqlStatement } from '@rockpool/client';
import { searchText } from '@rockpool/client/schema';
import type { EntryStatus } from '../schema.ts';
import { entriesWithNote, entryHasNote } from './notes.ts';
import { containing } from './text-pattern.ts';

export interface LedgerRow {
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  /** The account's currency. */
  readonly currency: string;
  /** 1: the account is off budget. */
  readonly offBudget: 0 | 1;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly status: EntryStatus;
  /** 1: the entry, or the other side of the transfer, is reconciled. */
  readonly locked: 0 | 1;
  readonly transferId: string | null;
  /** The account at the other end of a transfer; otherwise NULL. */
  readonly otherAccountId: string | null;
  readonly otherAccountName: string | null;
  readonly otherMinor: number | null;
  readonly otherCurrency: string | null;
  /** 0: not split. The parts of a transfer do not count. */
  readonly partCount: number;
  /** The sum of the parts; NULL without parts. */
  readonly dividedMinor: number | bigint | null;
  /** 1: the entry has a note. */
  readonly hasNote: 0 | 1;
  /** Number of newer entries in the result. */
  readonly position: number;
  /**
   * The account's balance after this entry; NULL in a filtered ledger, because it does not show all earlier entries.
   */
  readonly balanceMinor: number | bigint | null;
}

/** The filter of a ledger. */
export interface LedgerFilter {
  /** Searched in payee, notes, notes of parts, the shared note, and the other account's name. Empty: all. */
  readonly text: string;
  /** The amount that `text` may mean, in either direction; null if it is not an amount. */
  readonly textMinor: number | null;
  /** `none` for uncategorised entries; null for all. */
  readonly categoryId: string | null;
  /** Exactly this payee; empty for all. */
  readonly payee: string;
  /** The least and the greatest amount in minor units, in either direction; null for no limit. */
  readonly atLeastMinor: number | null;
  readonly atMostMinor: number | null;
  readonly status: EntryStatus | 'not-reconciled' | null;
  /** `YYYY-MM-DD`, inclusive; empty for all. */
  readonly fromDate: string;
  readonly toDate: string;
}

const newestFirst = 'entry.date DESC, entry.enteredAtMs DESC, entry.id DESC';

/**
 * A window of the ledger of one account, or of all accounts (`accountId` null), newest first: `count` entries from
 * position `first`. Only these rows are read in full. Newer entries are skipped in an index, and summed there for the
 * balance of one account.
 */
export function ledgerWindow(
  accountId: string | null,
  filter: LedgerFilter,
  first: number,
  count: number,
): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  const balance =
    accountId === null || isNarrowed(filter)
      ? { sql: 'NULL', params: [] }
      : { sql: runningBalance, params: [accountId, accountId, accountId, first] };
  return {
    sql: `
  WITH shown AS (
    SELECT entry.id FROM entries AS entry WHERE ${found.sql} ORDER BY ${newestFirst} LIMIT ? OFFSET ?
  )
  SELECT entry.id, entry.accountId, mine.name AS accountName, mine.currency, mine.kind = 'off-budget' AS offBudget, entry.date, entry.payee, entry.notes, entry.categoryId, entry.amountMinor, entry.status, entry.transferId,
         'reconciled' IN (entry.status, coalesce(twin.status, '')) AS locked, other.id AS otherAccountId, other.name AS otherAccountName, twin.amountMinor AS otherMinor, other.currency AS otherCurrency,
         (SELECT count(*) FROM parts WHERE entryId = entry.id AND entry.transferId IS NULL) AS partCount,
         (SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id AND entry.transferId IS NULL) AS dividedMinor,
         ${entryHasNote} AS hasNote,
         row_number() OVER newest - 1 + ? AS position,
         ${balance.sql} AS balanceMinor
  FROM shown JOIN entries AS entry ON entry.id = shown.id
    JOIN accounts AS mine ON mine.id = entry.accountId
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
  WINDOW newest AS (ORDER BY ${newestFirst})
  ORDER BY position`,
    params: [...found.params, count, first, first, ...balance.params],
  };
}

/**
 * The current balance, less the entries newer than the window, and less the entries of the window that are newer than
 * the row. Parameters: account id, three times; the window's first position.
 */
const runningBalance = `
         (SELECT openingMinor FROM accounts WHERE id = ?) + (SELECT coalesce(sum(amountMinor), 0) FROM entries WHERE accountId = ?)
           - (SELECT coalesce(sum(amountMinor), 0) FROM (SELECT entry.amountMinor FROM entries AS entry WHERE entry.accountId = ? ORDER BY ${newestFirst} LIMIT ?))
           - coalesce(sum(entry.amountMinor) OVER (newest ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`;

export interface LedgerTotalsRow {
  readonly entryCount: number;
  readonly totalMinor: number | bigint;
}

/** The number of entries in a ledger, and their sum, which has no meaning for accounts of several currencies. */
export function ledgerTotals(accountId: string | null, filter: LedgerFilter): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  return {
    sql: `SELECT count(*) AS entryCount, coalesce(sum(entry.amountMinor), 0) AS totalMinor FROM entries AS entry WHERE ${found.sql}`,
    params: found.params,
  };
}

/** The ids of all entries of a ledger, for "select all". */
export function ledgerIds(accountId: string | null, filter: LedgerFilter): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  return { sql: `SELECT entry.id FROM entries AS entry WHERE ${found.sql}`, params: found.params };
}

export const wholeLedger: LedgerFilter = {
  text: '',
  textMinor: null,
  categoryId: null,
  payee: '',
  atLeastMinor: null,
  atMostMinor: null,
  status: null,
  fromDate: '',
  toDate: '',
};

export function isNarrowed(filter: LedgerFilter): boolean {
  return (Object.keys(wholeLedger) as (keyof LedgerFilter)[]).some((name) => filter[name] !== wholeLedger[name]);
}

function ledgerCondition(
  accountId: string | null,
  { text, textMinor, categoryId, payee, atLeastMinor, atMostMinor, status, fromDate, toDate }: LedgerFilter,
): SqlStatement & { readonly params: readonly SqlParam[] } {
  const conditions = [accountId === null ? 'TRUE' : 'entry.accountId = ?'];
  const params: SqlParam[] = accountId === null ? [] : [accountId];
  const add = (condition: string, ...values: readonly SqlParam[]): void => {
    conditions.push(condition);
    params.push(...values);
  };
  if (text !== '') {
    const found = entriesWithText(accountId, text, textMinor);
    add(`entry.rowid IN (${found.sql})`, ...found.params);
  }
  if (categoryId === 'none')
    add(
      'entry.categoryId IS NULL AND entry.transferId IS NULL AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entry.id)',
    );
  else if (categoryId !== null)
    add(
      '(entry.categoryId = ? OR (entry.transferId IS NULL AND entry.id IN (SELECT entryId FROM parts WHERE categoryId = ?)))',
      categoryId,
      categoryId,
    );
  if (payee !== '') add('entry.payee = ?', payee);
  if (atLeastMinor !== null) add('abs(entry.amountMinor) >= ?', atLeastMinor);
  if (atMostMinor !== null) add('abs(entry.amountMinor) <= ?', atMostMinor);
  if (status === 'not-reconciled') add("entry.status <> 'reconciled'");
  else if (status !== null) add('entry.status = ?', status);
  if (fromDate !== '') add('entry.date >= ?', fromDate);
  if (toDate !== '') add('entry.date <= ?', toDate);
  return { sql: conditions.join(' AND '), params };
}

/**
 * The entries that match a search text: every word is a prefix of a word in the payee, the notes or a part's notes; or
 * the whole text occurs in the other account's name or the entry's note, or is the amount. All but the amount are found
 * without reading entries that do not match.
 */
function entriesWithText(
  accountId: string | null,
  text: string,
  textMinor: number | null,
): SqlStatement & { readonly params: readonly SqlParam[] } {
  const words = searchText(text);
  const whole = containing(text);
  const byWords = `
    SELECT rowid FROM entriesSearch WHERE entriesSearch MATCH ?
    UNION ALL SELECT entries.rowid FROM partsSearch JOIN parts ON parts.rowid = partsSearch.rowid JOIN entries ON entries.id = parts.entryId WHERE partsSearch MATCH ?
    UNION ALL SELECT mine.rowid FROM entries AS twin JOIN accounts AS other ON other.id = twin.accountId JOIN entries AS mine ON mine.transferId = twin.transferId
              WHERE twin.transferId > '' AND twin.id <> mine.id AND other.name GLOB ?
    UNION ALL ${entriesWithNote}`;
  const byAmount = `UNION ALL SELECT rowid FROM entries WHERE ${accountId === null ? '' : 'accountId = ? AND '}abs(amountMinor) = ?`;
  const params = [words, words, whole, whole];
  return textMinor === null
    ? { sql: byWords, params }
    : { sql: `${byWords} ${byAmount}`, params: [...params, ...(accountId === null ? [] : [accountId]), textMinor] };
}

export interface PartRow {
  readonly id: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly notes: string;
}

/** The parts of a split entry, in creation order. Parameter: entry id. */
export const partsOfEntry = `
  SELECT id, categoryId, amountMinor, notes FROM parts WHERE entryId = ? ORDER BY length(id), id`;
