import { defineSchema, searchIndex, versionName } from '@rockpool/client/schema';
import { index, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/*
 * A household's budget. Four rules hold for every table:
 * - The app generates text keys, so that offline devices never create the same key by accident. (Imported entries do so
 *   on purpose: see import/rows/import-key.ts.)
 * - Money is integer minor units of the account's currency, within ±(2^53 − 1). A balance is never stored: it is a sum.
 * - Accounts are closed, and categories are hidden or marked as deleted, but their rows stay, so that a concurrent
 *   entry of another device never loses its reference.
 * - A movement of money is a "ledger entry", or entry. "Transaction" is SQL's word.
 */

/**
 * Money in an `off-budget` account (a pension, a loan) counts as net worth but is not budgeted: it is in no envelope
 * and no spending report.
 */
export type AccountKind = 'checking' | 'savings' | 'credit' | 'cash' | 'off-budget';

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey().notNull(),
  name: text().notNull(),
  kind: text().$type<AccountKind>().notNull(),
  /** ISO 4217, such as EUR. It never changes, because all amounts of the account are in its minor units. */
  currency: text().notNull(),
  /** The account's balance before its first entry. */
  openingMinor: integer().notNull().default(0),
  /** The heading under which it is listed; empty for none. */
  groupName: text().notNull().default(''),
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
   * 1: overspending stays in the envelope from month to month; 0: it is covered from unassigned money when the month
   * ends.
   */
  keepsOverspent: integer().notNull().default(0),
  /**
   * The heading under which it is listed; empty for none. A group consists of its categories: it has no row of its own.
   */
  groupName: text().notNull().default(''),
  /** Orders the categories of a kind. A group is listed at the position of its first category. */
  position: real().notNull().default(0),
  /** A memo for the envelope. */
  note: text().notNull().default(''),
  /**
   * 0 or 1. Nothing refers to a deleted category, except entries from devices that had not yet received the delete.
   * They show it until they get another category.
   */
  deleted: integer().notNull().default(0),
});

/**
 * The confirmation state of an entry: `open` until the bank has it, `cleared` once the bank has it, `reconciled` once
 * it was checked against a statement.
 */
export type EntryStatus = 'open' | 'cleared' | 'reconciled';

export const entries = sqliteTable(
  'entries',
  {
    id: text().primaryKey().notNull(),
    accountId: text()
      .notNull()
      .references(() => accounts.id),
    /** `YYYY-MM-DD`: a calendar day, independent of time zones. */
    date: text().notNull(),
    payee: text().notNull().default(''),
    notes: text().notNull().default(''),
    /** NULL: not categorised yet. */
    categoryId: text().references(() => categories.id),
    /** Negative when money leaves the account. */
    amountMinor: integer().notNull(),
    /**
     * Orders the entries of one day by the wall time when they were entered. Imported rows are 1 ms apart, in the order
     * of the statement.
     */
    enteredAtMs: integer().notNull(),
    /** Identifies a row when it is imported again; NULL for entries typed by hand. */
    importKey: text(),
    status: text().$type<EntryStatus>().notNull().default('open'),
    /**
     * Equal on both sides of a transfer between two accounts; otherwise NULL. Shared fields are written to both sides
     * in one transaction.
     */
    transferId: text(),
  },
  (table) => [
    // Includes amounts, so that balances are summed from the index alone.
    index('entries_by_account').on(table.accountId, table.date, table.enteredAtMs, table.id, table.amountMinor),
    index('entries_by_transfer').on(table.transferId),
    // Orders the entries of all accounts.
    index('entries_by_day').on(table.date, table.enteredAtMs, table.id),
    // The cleared balance of an account is summed from this index alone.
    index('entries_by_status').on(table.status, table.accountId, table.amountMinor),
    // The monthly sum of a category is computed from this index alone.
    index('entries_by_category').on(table.categoryId, table.date, table.accountId, table.amountMinor, table.transferId),
    index('entries_by_payee').on(table.payee),
  ],
);

/**
 * A split entry's parts. Each part has its own category and the entry has none; the remainder that the parts leave of
 * the amount is uncategorised. If two people change the amount and a part at once, no change has to be rejected or
 * repaired: the difference is shown, and a user resolves it.
 */
export const parts = sqliteTable(
  'parts',
  {
    /** `ENTRY/1`, `ENTRY/2` …: if two devices split one entry at once, it is split only once. */
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

/** The fields that a ledger's search covers. */
export const entriesSearch = searchIndex(entries, { name: 'entriesSearch', columns: [entries.payee, entries.notes] });
export const partsSearch = searchIndex(parts, { name: 'partsSearch', columns: [parts.notes] });

/**
 * The field of an entry that a rule tests, and the test. `amount` compares minor units, whatever the currency and the
 * sign.
 */
export type RuleField = 'payee' | 'notes' | 'amount' | 'account';
export type RuleTest = 'contains' | 'is' | 'starts' | 'one-of' | 'at-least' | 'at-most';
/** Whether all conditions must hold, or any one. */
export type RuleNeeds = 'all' | 'any';

/** Automatic values for imported and typed entries. Rules are tried in creation order. */
export const rules = sqliteTable('rules', {
  id: text().primaryKey().notNull(),
  /**
   * The first condition. `value` is a text, an amount in minor units, or an account id; for `one-of`, one value per
   * line.
   */
  field: text().$type<RuleField>().notNull(),
  test: text().$type<RuleTest>().notNull(),
  value: text().notNull(),
  /**
   * JSON: all other conditions, `[{"field":"amount","test":"at-least","value":"1000"}, …]`. A separate column, because
   * rules in older budgets had just one condition.
   */
  moreConditions: text().notNull().default('[]'),
  needs: text().$type<RuleNeeds>().notNull().default('all'),
  /** NULL leaves the category unchanged. */
  categoryId: text().references(() => categories.id),
  /** NULL leaves the payee unchanged. */
  payee: text(),
  /** NULL leaves the notes unchanged. */
  notes: text(),
  /** `open` or `cleared`; NULL leaves the status unchanged. */
  status: text().$type<EntryStatus>(),
  /**
   * JSON: the parts that the rule splits an entry into, `[{"categoryId":"…","percent":60}, …, {"categoryId":null,
   * "percent":null}]`. The last one receives the rest and has no percentage. Empty if there is no split.
   */
  split: text().notNull().default('[]'),
  createdAtMs: integer().notNull(),
});

export type ScheduleUnit = 'day' | 'week' | 'month' | 'year';

/** A recurring entry or transfer. */
export const schedules = sqliteTable('schedules', {
  id: text().primaryKey().notNull(),
  accountId: text()
    .notNull()
    .references(() => accounts.id),
  /** For a transfer: the target account, in the same currency; otherwise NULL. */
  otherAccountId: text().references(() => accounts.id),
  payee: text().notNull().default(''),
  notes: text().notNull().default(''),
  categoryId: text().references(() => categories.id),
  amountMinor: integer().notNull(),
  /** `YYYY-MM-DD`. All other days are counted from this one. */
  firstDate: text().notNull(),
  /** Repeats every this many units, at least 1. */
  every: integer().notNull().default(1),
  unit: text().$type<ScheduleUnit>().notNull(),
  /** The last possible day; NULL for no end. */
  lastDate: text(),
  createdAtMs: integer().notNull(),
});

/**
 * A day of a schedule that was entered or skipped. It has no foreign key to the schedule: an entry must not be rejected
 * because another device has concurrently deleted the schedule.
 */
export const scheduleDays = sqliteTable(
  'scheduleDays',
  {
    /**
     * `SCHEDULE/YYYY-MM-DD`, which is also the id of the created entry: if two devices enter the same day, there is one
     * entry.
     */
    id: text().primaryKey().notNull(),
    scheduleId: text().notNull(),
    date: text().notNull(),
    outcome: text().$type<'entered' | 'skipped'>().notNull(),
  },
  (table) => [index('scheduleDays_by_schedule').on(table.scheduleId, table.date)],
);

/** The format of an account's statements, used to read the next one. */
export const importProfiles = sqliteTable('importProfiles', {
  /** The account's id: an account has one bank. */
  id: text()
    .primaryKey()
    .notNull()
    .references(() => accounts.id),
  /**
   * JSON: the file's column name by role (`date`, `amount` …). Unlike numbers, names still work after the bank adds a
   * column.
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
 * An envelope's goal: an amount each month, an amount to refill to at the start of each month, or an amount to reach by
 * some month.
 */
export const goals = sqliteTable('goals', {
  /** `CATEGORY/CURRENCY`: an envelope has one goal, even when two people set one at once. */
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
 * One assignment of money to a category's envelope for a month. An envelope holds the sum of these rows: concurrent
 * assignments add up, and a move is two rows, one negative and one positive.
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
    /** Negative when money was taken out. */
    amountMinor: integer().notNull(),
    /** Wall time. */
    assignedAtMs: integer().notNull(),
  },
  (table) => [index('assignments_by_month').on(table.currency, table.month)],
);

export const notes = sqliteTable('notes', {
  /**
   * `budget` for the budget's note; `entry/ENTRY` for the note of an entry. The id is derived from the subject, so two
   * people who create a note at once create the same one. It has no foreign key to its entry: an entry that is deleted
   * and then restored by undo has its note again.
   */
  id: text().primaryKey().notNull(),
  /** `{"body": [{"insert": "…"}]}`: a document that merges concurrent typing and formatting. */
  content: text().notNull(),
});

/** Settings of the whole budget, by name, stored as text because later versions add names. */
export const settings = sqliteTable('settings', {
  /** `name`: the budget's name. `first-day`: the day of the month on which a budget month begins, 1 to 28. */
  id: text().primaryKey().notNull(),
  value: text().notNull(),
});

/**
 * The deleted entries, so that they can be found; their history has the values to restore. Written in the transaction
 * of the delete.
 */
export const deletedEntries = sqliteTable(
  'deletedEntries',
  {
    /** The id of the entry. An entry that exists again does not count as deleted. */
    id: text().primaryKey().notNull(),
    /** The last account of the entry; no foreign key, so that nothing depends on this list. */
    accountId: text().notNull(),
    date: text().notNull(),
    payee: text().notNull(),
    notes: text().notNull(),
    amountMinor: integer().notNull(),
    transferId: text(),
    /** Wall time. */
    deletedAtMs: integer().notNull(),
  },
  (table) => [index('deletedEntries_by_time').on(table.deletedAtMs)],
);

/** A conflict that a user has looked at. The mark is shared: it is enough if one member of the household has looked. */
export const dismissedConflicts = sqliteTable('dismissedConflicts', {
  /** The id of a row of Rockpool's conflict log. */
  id: text().primaryKey().notNull(),
  /** Wall time. */
  dismissedAtMs: integer().notNull(),
});

/**
 * Column groups, which merge as a unit: mixing halves of two people's rules would produce a rule that neither wrote.
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

/** How long an old version can be read: last year's figures stay readable until this year's are complete. */
const retainedDays = 730;

/** Every table that pages read. A past state has only tables with a history. */
const tablesWithHistory = [
  accounts,
  assignments,
  categories,
  entries,
  goals,
  notes,
  parts,
  rules,
  scheduleDays,
  schedules,
  settings,
];

export const schema = defineSchema(
  {
    accounts,
    assignments,
    categories,
    deletedEntries,
    dismissedConflicts,
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
    settings,
    /** Names that users give to versions of notes. */
    versionName,
  },
  {
    history: tablesWithHistory.map((table) => ({ table, retainedDays })),
    merge: [
      { table: goals, groups: [columnGroups.goals] },
      { table: importProfiles, groups: [columnGroups.importProfiles] },
      { table: notes, documents: [{ column: notes.content, richText: ['body'] }] },
      { table: rules, groups: [columnGroups.rules] },
      { table: schedules, groups: [columnGroups.schedules] },
    ],
  },
);
