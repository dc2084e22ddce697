import type { SqlValue } from '@rockpool/client';
import { formatMinor } from '../money/format.ts';
import type { ChangeLine } from '../history/moment-words.ts';
import { formatDay, formatMonthInFull } from '../shell/locale.ts';
import { columnWords, valueWord, type Wording } from './row-words.ts';

/** Facts about the named rows that the words of a difference need. */
export interface KnownRows {
  readonly wording: Wording;
  /** Entries by id, from the what-if and from today. */
  readonly entries: ReadonlyMap<string, ComparedEntry>;
  readonly currencyOfAccount: ReadonlyMap<string, string>;
}

export interface ComparedEntry {
  readonly id: string;
  readonly date: string;
  readonly payee: string;
  readonly currency: string;
}

/** A changed row of a comparison or of a rejected transaction. */
export interface ChangedRow {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** The values of the primary key. */
  readonly key: readonly SqlValue[];
  readonly changes: readonly ChangedValue[];
}

interface ChangedValue {
  readonly column: string;
  readonly before: SqlValue;
  readonly after: SqlValue;
  /** An edit of a document, instead of its values. */
  readonly isEdit?: boolean;
}

/** One difference: `New entry: Rent, 1 Apr 2026`, with its values. */
export interface Difference {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly ChangeLine[];
}

/** Columns that carry no information for a user, or repeat the title. */
const unseen: ReadonlySet<string> = new Set([
  'entryId',
  'enteredAtMs',
  'createdAtMs',
  'assignedAtMs',
  'importKey',
  'position',
  'deleted',
  'currency',
  'transferId',
]);

/** Adds the accounts that the changed rows themselves create, such as rejected ones. */
export function withNewAccounts(known: KnownRows, rows: readonly ChangedRow[]): KnownRows {
  const currencyOfAccount = new Map(known.currencyOfAccount);
  const accountNames = new Map(known.wording.accountNames);
  for (const { table, key, changes } of rows) {
    if (table !== 'accounts') continue;
    for (const { column, after } of changes) {
      if (typeof after !== 'string') continue;
      if (column === 'currency') currencyOfAccount.set(String(key[0]), after);
      if (column === 'name') accountNames.set(String(key[0]), after);
    }
  }
  return { ...known, currencyOfAccount, wording: { ...known.wording, accountNames } };
}

/** Changed rows, in words. Assignments to one envelope and month are one line. */
export function differencesOf(rows: readonly ChangedRow[], known: KnownRows): Difference[] {
  const assignments = rows.filter(({ table }) => table === 'assignments');
  const others = rows.filter(({ table }) => table !== 'assignments' && table !== 'deletedEntries');
  return [...assignmentDifferences(assignments, known), ...others.map((row) => differenceOf(row, known))];
}

function assignmentDifferences(rows: readonly ChangedRow[], { wording }: KnownRows): Difference[] {
  const sums = new Map<string, { readonly categoryId: string; month: string; currency: string; minor: bigint }>();
  for (const { changes } of rows) {
    const side = (name: 'before' | 'after', column: string): SqlValue =>
      changes.find((change) => change.column === column)?.[name] ?? null;
    for (const [name, sign] of [
      ['before', -1n],
      ['after', 1n],
    ] as const) {
      const [categoryId, month, currency, minor] = ['categoryId', 'month', 'currency', 'amountMinor'].map((column) =>
        side(name, column),
      );
      if (minor === null || categoryId === null) continue;
      const id = `${String(month)} ${String(categoryId)} ${String(currency)}`;
      const sum = sums.get(id) ?? {
        categoryId: String(categoryId),
        month: String(month),
        currency: String(currency),
        minor: 0n,
      };
      sum.minor += sign * BigInt(minor as number | bigint);
      sums.set(id, sum);
    }
  }
  return [...sums]
    .filter(([, { minor }]) => minor !== 0n)
    .map(([id, { categoryId, month, currency, minor }]) => ({
      id,
      title: `${wording.categoryNames.get(categoryId) ?? 'A category'}, ${formatMonthInFull(month)}`,
      lines: [
        {
          label: 'Assigned',
          before: null,
          after: `${minor > 0n ? '+' : ''}${formatMinor(minor, currency, wording.locale)}`,
        },
      ],
    }));
}

export const tableWords: Readonly<Record<string, string>> = {
  accounts: 'account',
  categories: 'category',
  entries: 'entry',
  goals: 'goal',
  importProfiles: 'import settings',
  notes: 'note',
  parts: 'part of a split',
  rules: 'rule',
  scheduleDays: 'day of a scheduled entry',
  schedules: 'scheduled entry',
  settings: 'setting',
};

function differenceOf(row: ChangedRow, known: KnownRows): Difference {
  const { table, key, kind, changes } = row;
  const currency = currencyOf(row, known);
  const lines = changes.flatMap(({ column, before, after, isEdit = false }): ChangeLine[] => {
    const label = columnWords[column];
    if (label === undefined || unseen.has(column)) return [];
    if (isEdit) return [{ label, before: null, after: 'edited' }];
    const value = kind === 'insert' ? after : before;
    if (kind !== 'update' && (value === null || value === '' || value === 0 || value === 'open')) return [];
    const words = (shown: SqlValue): string => valueWord(column, shown, currency, known.wording);
    return [
      {
        label,
        before: kind === 'insert' ? null : words(before),
        after: kind === 'delete' ? null : words(after),
      },
    ];
  });
  return { id: JSON.stringify([table, key]), title: `${titleWord(row)}${nameOf(row, known)}`, lines };
}

function titleWord({ table, kind }: ChangedRow): string {
  const word = tableWords[table] ?? table;
  return kind === 'insert' ? `New ${word}` : `${kind === 'delete' ? 'Deleted' : 'Changed'} ${word}`;
}

/** `: Rent, 1 Apr 2026`; empty if the row has no name. */
export function nameOf(
  { table, key, changes }: Pick<ChangedRow, 'table' | 'key' | 'changes'>,
  known: KnownRows,
): string {
  const id = String(key[0]);
  if (table === 'entries' || table === 'parts') {
    const entry =
      known.entries.get(table === 'parts' ? id.slice(0, id.lastIndexOf('/')) : id) ?? entryOfValues(changes);
    return entry === undefined ? '' : `: ${entry.payee === '' ? 'No payee' : entry.payee}, ${formatDay(entry.date)}`;
  }
  if (table === 'categories' || table === 'goals') {
    const name = known.wording.categoryNames.get(id.split('/')[0] ?? id);
    return name === undefined ? '' : `: ${name}`;
  }
  if (table === 'accounts') {
    const name = known.wording.accountNames.get(id);
    return name === undefined ? '' : `: ${name}`;
  }
  const payee = changes.find(({ column }) => column === 'payee');
  return payee === undefined ? '' : `: ${String(payee.after ?? payee.before)}`;
}

/** Day and payee of an entry that is in no table, because the server rejected it. */
function entryOfValues(changes: readonly ChangedValue[]): Pick<ComparedEntry, 'date' | 'payee'> | undefined {
  const [date, payee] = ['date', 'payee'].map((name) => changes.find(({ column }) => column === name)?.after);
  return typeof date === 'string' && typeof payee === 'string' ? { date, payee } : undefined;
}

export function currencyOf(
  { table, key, changes }: Pick<ChangedRow, 'table' | 'key' | 'changes'>,
  { entries, currencyOfAccount, wording }: KnownRows,
): string {
  const id = String(key[0]);
  const entry = entries.get(table === 'parts' ? id.slice(0, id.lastIndexOf('/')) : id);
  if (entry !== undefined) return entry.currency;
  const valueOf = (column: string): string | undefined => {
    const change = changes.find((one) => one.column === column);
    const value = change?.after ?? change?.before;
    return typeof value === 'string' ? value : undefined;
  };
  const accountId = valueOf('accountId');
  // The amount of an unknown account is shown without a currency.
  return valueOf('currency') ?? (accountId === undefined ? wording.currency : (currencyOfAccount.get(accountId) ?? ''));
}
