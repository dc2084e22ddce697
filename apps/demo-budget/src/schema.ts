import { defineSchema } from '@rockpool/client/schema';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/*
 * A household's budget. Four rules hold for every table:
 *
 * - Keys are text made by the app, so that devices which are offline never make the same one by accident. (Imported entries make the
 *   same one on purpose: see import/rows/import-key.ts.)
 * - Money is integer minor units of the account's currency, within ±(2^53 − 1). A balance is never stored: it is a sum.
 * - Accounts and categories are closed or hidden, not deleted, so an entry made on another device meanwhile never loses what it points to.
 * - A movement of money is a "ledger entry", or entry. "Transaction" is SQL's word.
 */

export type AccountKind = 'checking' | 'savings' | 'credit' | 'cash';

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey().notNull(),
  name: text().notNull(),
  kind: text().$type<AccountKind>().notNull(),
  /** ISO 4217, such as EUR. It never changes: all amounts of the account are in its minor units. */
  currency: text().notNull(),
  /** What the account held before its first entry. */
  openingMinor: integer().notNull().default(0),
  /** 0 or 1. */
  closed: integer().notNull().default(0),
  createdAtMs: integer().notNull(),
});

export type CategoryKind = 'spending' | 'income';

export const categories = sqliteTable('categories', {
  id: text().primaryKey().notNull(),
  name: text().notNull(),
  kind: text().$type<CategoryKind>().notNull(),
  /** 0 or 1. */
  hidden: integer().notNull().default(0),
});

export const entries = sqliteTable(
  'entries',
  {
    id: text().primaryKey().notNull(),
    accountId: text()
      .notNull()
      .references(() => accounts.id),
    /** `YYYY-MM-DD`: the day, wherever one is. */
    date: text().notNull(),
    payee: text().notNull().default(''),
    notes: text().notNull().default(''),
    /** NULL: not sorted into a category yet. */
    categoryId: text().references(() => categories.id),
    /** Negative when money leaves the account. */
    amountMinor: integer().notNull(),
    /** Orders the entries of one day: wall time of entering; imported rows follow each other by 1 ms in the order of the statement. */
    enteredAtMs: integer().notNull(),
    /** By which a second import of the same row is recognised; NULL for entries typed by hand. */
    importKey: text(),
  },
  (table) => [
    index('entries_by_account').on(table.accountId, table.date, table.enteredAtMs, table.id),
    index('entries_by_date').on(table.date),
    index('entries_by_payee').on(table.payee),
  ],
);

/**
 * What a person put into a category's envelope for a month. Envelopes hold the sum of these rows: so money that two people assign at the same
 * time adds up, and a move is one row out and one row in.
 */
export const assignments = sqliteTable(
  'assignments',
  {
    id: text().primaryKey().notNull(),
    /** `YYYY-MM`. */
    month: text().notNull(),
    currency: text().notNull(),
    categoryId: text()
      .notNull()
      .references(() => categories.id),
    /** Negative when it was taken out again. */
    amountMinor: integer().notNull(),
    /** Wall time. */
    assignedAtMs: integer().notNull(),
  },
  (table) => [index('assignments_by_month').on(table.currency, table.month)],
);

export const schema = defineSchema({ accounts, assignments, categories, entries });
