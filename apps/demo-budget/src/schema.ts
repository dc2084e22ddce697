import { defineSchema, searchIndex } from '@rockpool/client/schema';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/*
 * A household's budget. Four rules hold for every table:
 *
 * - Keys are text made by the app, so that devices which are offline never make the same one by accident. (Imported
 *   entries make the
 *   same one on purpose: see import/rows/import-key.ts.)
 * - Money is integer minor units of the account's currency, within ±(2^53 − 1). A balance is never stored: it is a sum.
 * - Accounts and categories are closed or hidden, not deleted, so an entry made on another device meanwhile never loses
 *   what it points to.
 * - A movement of money is a "ledger entry", or entry. "Transaction" is SQL's word.
 */

/**
 * Money in an `off-budget` account (a pension, a loan) is owned and not planned with: it is in no envelope and no
 * report of spending.
 */
export type AccountKind = 'checking' | 'savings' | 'credit' | 'cash' | 'off-budget';

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
  /**
   * 1: what its envelope has overspent stays in it, month after month; 0: it is covered each month from unassigned money when
   * the month ends.
   */
  keepsOverspent: integer().notNull().default(0),
});

/**
 * How sure an entry is: `open` until the bank has it, `cleared` when it has, `reconciled` when a statement was checked
 * against it.
 */
export type EntryStatus = 'open' | 'cleared' | 'reconciled';

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
    /**
     * Orders the entries of one day: wall time of entering; imported rows follow each other by 1 ms in the order of the
     * statement.
     */
    enteredAtMs: integer().notNull(),
    /** By which a second import of the same row is recognised; NULL for entries typed by hand. */
    importKey: text(),
    status: text().$type<EntryStatus>().notNull().default('open'),
    /**
     * The same on both sides of a transfer between two accounts; NULL for all else. What is said of one side is written
     * to both in one transaction.
     */
    transferId: text(),
  },
  (table) => [
    // With amounts, so that balances are added up from the index alone.
    index('entries_by_account').on(table.accountId, table.date, table.enteredAtMs, table.id, table.amountMinor),
    index('entries_by_transfer').on(table.transferId),
    index('entries_by_date').on(table.date),
    // What the bank has of an account is added up from this one alone.
    index('entries_by_status').on(table.status, table.accountId, table.amountMinor),
    // What a category got in a month is added up from this one alone.
    index('entries_by_category').on(table.categoryId, table.date, table.accountId, table.amountMinor, table.transferId),
    index('entries_by_payee').on(table.payee),
  ],
);

/**
 * A split entry's parts. They have their own categories, the entry has none; what they leave over of its amount is in
 * no category. So nothing has to be refused or repaired when two people change the amount and a part at once: the
 * difference shows, and someone decides.
 */
export const parts = sqliteTable(
  'parts',
  {
    /** `ENTRY/1`, `ENTRY/2` …: two devices that split one entry at once have split it once. */
    id: text().primaryKey().notNull(),
    entryId: text()
      .notNull()
      .references(() => entries.id, { onDelete: 'cascade' }),
    categoryId: text().references(() => categories.id),
    amountMinor: integer().notNull(),
    notes: text().notNull().default(''),
  },
  (table) => [index('parts_by_entry').on(table.entryId)],
);

/** What the search of a ledger looks into. */
export const entriesSearch = searchIndex(entries, { name: 'entriesSearch', columns: [entries.payee, entries.notes] });
export const partsSearch = searchIndex(parts, { name: 'partsSearch', columns: [parts.notes] });

/** What of an entry a rule looks at, and how. `amount` compares minor units, whatever the currency and the sign. */
export type RuleField = 'payee' | 'notes' | 'amount' | 'account';
export type RuleTest = 'contains' | 'is' | 'starts' | 'one-of' | 'at-least' | 'at-most';
/** Whether every condition has to hold, or one is enough. */
export type RuleNeeds = 'all' | 'any';

/** What imported and typed entries are given by themselves. Rules are tried in the order of their making. */
export const rules = sqliteTable('rules', {
  id: text().primaryKey().notNull(),
  /**
   * The first condition. `value` is a text, an amount in minor units, or an account's id; for `one-of` one in each
   * line.
   */
  field: text().$type<RuleField>().notNull(),
  test: text().$type<RuleTest>().notNull(),
  value: text().notNull(),
  /**
   * JSON: all other conditions, `[{"field":"amount","test":"at-least","value":"1000"}, …]`. Budgets were made when a
   * rule had just one.
   */
  moreConditions: text().notNull().default('[]'),
  needs: text().$type<RuleNeeds>().notNull().default('all'),
  /** NULL: leaves the category as it is. */
  categoryId: text().references(() => categories.id),
  /** NULL: leaves the payee as it is. */
  payee: text(),
  /** NULL: leaves the notes as they are. */
  notes: text(),
  createdAtMs: integer().notNull(),
});

export type ScheduleUnit = 'day' | 'week' | 'month' | 'year';

/** An entry, or a transfer, that comes again and again. */
export const schedules = sqliteTable('schedules', {
  id: text().primaryKey().notNull(),
  accountId: text()
    .notNull()
    .references(() => accounts.id),
  /** Where a transfer goes to, in the same currency; NULL for all else. */
  otherAccountId: text().references(() => accounts.id),
  payee: text().notNull().default(''),
  notes: text().notNull().default(''),
  categoryId: text().references(() => categories.id),
  amountMinor: integer().notNull(),
  /** `YYYY-MM-DD`. All other days are counted from this one. */
  firstDate: text().notNull(),
  /** Every so many units, at least 1. */
  every: integer().notNull().default(1),
  unit: text().$type<ScheduleUnit>().notNull(),
  /** No day after this one; NULL goes on for good. */
  lastDate: text(),
  createdAtMs: integer().notNull(),
});

/**
 * A day of a schedule that was dealt with. It does not refer to the schedule: an entry that one device makes of it must
 * not be refused because another has deleted the schedule meanwhile.
 */
export const scheduleDays = sqliteTable(
  'scheduleDays',
  {
    /**
     * `SCHEDULE/YYYY-MM-DD`, which is also the id of the entry that was made: two devices that enter the same day have
     * entered it once.
     */
    id: text().primaryKey().notNull(),
    scheduleId: text().notNull(),
    date: text().notNull(),
    outcome: text().$type<'entered' | 'skipped'>().notNull(),
  },
  (table) => [index('scheduleDays_by_schedule').on(table.scheduleId, table.date)],
);

/** How an account's statements are written, so that the next one is read the same. */
export const importProfiles = sqliteTable('importProfiles', {
  /** The account's: it has one bank. */
  id: text()
    .primaryKey()
    .notNull()
    .references(() => accounts.id),
  /**
   * JSON: by role (`date`, `amount` …) what the file calls the column. Names, not numbers: a bank that adds a column
   * changes nothing.
   */
  columns: text().notNull(),
  /** `,`, `;` or a tab. */
  delimiter: text().notNull(),
  dateOrder: text().notNull(),
  decimalMark: text().notNull(),
  /** 0 or 1. */
  turnSigns: integer().notNull().default(0),
});

export type GoalKind = 'monthly' | 'up-to' | 'by-month';

/**
 * What an envelope is to get: so much each month, so much that it holds that when a month begins, or so much in all by
 * some month.
 */
export const goals = sqliteTable('goals', {
  /** `CATEGORY/CURRENCY`: an envelope has one goal, also when two people set one at once. */
  id: text().primaryKey().notNull(),
  categoryId: text()
    .notNull()
    .references(() => categories.id),
  currency: text().notNull(),
  kind: text().$type<GoalKind>().notNull(),
  amountMinor: integer().notNull(),
  /** `YYYY-MM` for `by-month`, else NULL. */
  byMonth: text(),
});

/**
 * What a person put into a category's envelope for a month. Envelopes hold the sum of these rows: so money that two
 * people assign at the same time adds up, and a move is one row out and one row in.
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

/** What people write down together. */
export const notes = sqliteTable('notes', {
  /**
   * `budget` for what belongs to all of it; `entry/ENTRY` for what belongs to one entry: made of what it is about, so
   * two people who begin one at once have begun one. It does not refer to its entry: an entry that was deleted, and
   * comes back by undo, has its note again.
   */
  id: text().primaryKey().notNull(),
  /**
   * `{"body": [{"insert": "…"}]}`: a document, in which what two people type and format at the same time stands beside
   * each other.
   */
  content: text().notNull(),
});

/**
 * Columns that are written, win and lose together: half of one person's rule with half of another's would be a rule
 * that nobody made.
 */
export const columnGroups = {
  goals: [goals.kind, goals.amountMinor, goals.byMonth],
  importProfiles: [
    importProfiles.columns,
    importProfiles.delimiter,
    importProfiles.dateOrder,
    importProfiles.decimalMark,
    importProfiles.turnSigns,
  ],
  rules: [rules.field, rules.test, rules.value, rules.moreConditions, rules.needs],
  schedules: [schedules.firstDate, schedules.every, schedules.unit],
} as const;

export const schema = defineSchema(
  {
    accounts,
    assignments,
    categories,
    entries,
    entriesSearch,
    goals,
    importProfiles,
    notes,
    parts,
    partsSearch,
    rules,
    scheduleDays,
    schedules,
  },
  {
    merge: [
      { table: goals, groups: [columnGroups.goals] },
      { table: importProfiles, groups: [columnGroups.importProfiles] },
      { table: notes, documents: [{ column: notes.content, richText: ['body'] }] },
      { table: rules, groups: [columnGroups.rules] },
      { table: schedules, groups: [columnGroups.schedules] },
    ],
  },
);
