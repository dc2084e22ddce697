import { defineSchema, searchIndex } from '@rockpool/client/schema';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/*
 * The demo's schema before it had groups of accounts and categories, settings, and rules that split entries. Budgets
 * from that time have this schema, so it never changes.
 */

const accounts = sqliteTable('accounts', {
  id: text().primaryKey().notNull(),
  name: text().notNull(),
  kind: text().notNull(),
  currency: text().notNull(),
  openingMinor: integer().notNull().default(0),
  closed: integer().notNull().default(0),
  createdAtMs: integer().notNull(),
});

const categories = sqliteTable('categories', {
  id: text().primaryKey().notNull(),
  name: text().notNull(),
  kind: text().notNull(),
  hidden: integer().notNull().default(0),
  keepsOverspent: integer().notNull().default(0),
});

const entries = sqliteTable(
  'entries',
  {
    id: text().primaryKey().notNull(),
    accountId: text()
      .notNull()
      .references(() => accounts.id),
    date: text().notNull(),
    payee: text().notNull().default(''),
    notes: text().notNull().default(''),
    categoryId: text().references(() => categories.id),
    amountMinor: integer().notNull(),
    enteredAtMs: integer().notNull(),
    importKey: text(),
    status: text().notNull().default('open'),
    transferId: text(),
  },
  (table) => [
    index('entries_by_account').on(table.accountId, table.date, table.enteredAtMs, table.id, table.amountMinor),
    index('entries_by_transfer').on(table.transferId),
    index('entries_by_date').on(table.date),
    index('entries_by_status').on(table.status, table.accountId, table.amountMinor),
    index('entries_by_category').on(table.categoryId, table.date, table.accountId, table.amountMinor, table.transferId),
    index('entries_by_payee').on(table.payee),
  ],
);

const parts = sqliteTable(
  'parts',
  {
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

const entriesSearch = searchIndex(entries, { name: 'entriesSearch', columns: [entries.payee, entries.notes] });
const partsSearch = searchIndex(parts, { name: 'partsSearch', columns: [parts.notes] });

const rules = sqliteTable('rules', {
  id: text().primaryKey().notNull(),
  field: text().notNull(),
  test: text().notNull(),
  value: text().notNull(),
  moreConditions: text().notNull().default('[]'),
  needs: text().notNull().default('all'),
  categoryId: text().references(() => categories.id),
  payee: text(),
  notes: text(),
  createdAtMs: integer().notNull(),
});

const schedules = sqliteTable('schedules', {
  id: text().primaryKey().notNull(),
  accountId: text()
    .notNull()
    .references(() => accounts.id),
  otherAccountId: text().references(() => accounts.id),
  payee: text().notNull().default(''),
  notes: text().notNull().default(''),
  categoryId: text().references(() => categories.id),
  amountMinor: integer().notNull(),
  firstDate: text().notNull(),
  every: integer().notNull().default(1),
  unit: text().notNull(),
  lastDate: text(),
  createdAtMs: integer().notNull(),
});

const scheduleDays = sqliteTable(
  'scheduleDays',
  {
    id: text().primaryKey().notNull(),
    scheduleId: text().notNull(),
    date: text().notNull(),
    outcome: text().notNull(),
  },
  (table) => [index('scheduleDays_by_schedule').on(table.scheduleId, table.date)],
);

const importProfiles = sqliteTable('importProfiles', {
  id: text()
    .primaryKey()
    .notNull()
    .references(() => accounts.id),
  columns: text().notNull(),
  delimiter: text().notNull(),
  dateOrder: text().notNull(),
  decimalMark: text().notNull(),
  turnSigns: integer().notNull().default(0),
});

const goals = sqliteTable('goals', {
  id: text().primaryKey().notNull(),
  categoryId: text()
    .notNull()
    .references(() => categories.id),
  currency: text().notNull(),
  kind: text().notNull(),
  amountMinor: integer().notNull(),
  byMonth: text(),
});

const assignments = sqliteTable(
  'assignments',
  {
    id: text().primaryKey().notNull(),
    month: text().notNull(),
    currency: text().notNull(),
    categoryId: text()
      .notNull()
      .references(() => categories.id),
    amountMinor: integer().notNull(),
    assignedAtMs: integer().notNull(),
  },
  (table) => [index('assignments_by_month').on(table.currency, table.month)],
);

const notes = sqliteTable('notes', {
  id: text().primaryKey().notNull(),
  content: text().notNull(),
});

const columnGroups = {
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

export const earlierSchema = defineSchema(
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
