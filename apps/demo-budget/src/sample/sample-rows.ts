import type { SqlParam, SqlStatement } from '@rockpool/client';
import { harbourCategory, harbourHabits, harbourStanding } from '../../samples/harbour-checking.ts';
import { isoDay, liveThrough, type Booking, type Standing } from '../../samples/household.ts';
import { createRandom } from '../../samples/random.ts';
import { monthAfter } from '../calendar/months.ts';
import { budgetNoteId, entryNoteId, noteSaying } from '../notes/actions.ts';

/** A year of the sample household's budget up to today, in which every feature of the app occurs. */

const monthsBack = 11;

const accounts = [
  { id: 'sample-household', name: 'Household', kind: 'checking', openingMinor: 512_644 },
  { id: 'sample-card', name: 'Credit card', kind: 'credit', openingMinor: 0 },
  { id: 'sample-savings', name: 'Savings', kind: 'savings', openingMinor: 640_000 },
  { id: 'sample-purse', name: 'Purse', kind: 'cash', openingMinor: 4_000 },
  { id: 'sample-pension', name: 'Pension', kind: 'off-budget', openingMinor: 1_850_000 },
] as const;

/** Two people in this household earn. */
const secondWages: Standing = { payee: 'Quillfeather Nurseries', text: 'WAGES', dayOfMonth: 15, amountMinor: 118_500 };

const pensionCategory = 'sample-retirement';

/** The monthly amount assigned to each category. */
const planMinor: Readonly<Record<string, number>> = {
  'starter-home': 155_000,
  'starter-groceries': 118_000,
  'starter-eating-out': 32_000,
  'starter-transport': 8_000,
  'starter-bills': 17_600,
  'starter-health': 7_000,
  'starter-leisure': 15_000,
  'starter-children': 41_000,
  'starter-clothes': 10_000,
  [pensionCategory]: 12_000,
};

interface SampleOptions {
  /** `YYYY-MM-DD`. */
  readonly today: string;
  readonly currency: string;
  /** The currency of the travel purse, which differs from that of the household. */
  readonly otherCurrency: string;
}

/** The sample's rows, as statements that change nothing when they run again. Ids are derived from the content. */
export function sampleRows({ today, currency, otherCurrency }: SampleOptions): SqlStatement[] {
  const firstMonth = monthAfter(today.slice(0, 7), -monthsBack);
  const months = Array.from({ length: monthsBack + 1 }, (_, index) => monthAfter(firstMonth, index));
  const createdAtMs = Date.parse(`${firstMonth}-01T00:00:00Z`);
  const bookings = bookingsUpTo(`${firstMonth}-01`, today);
  return [
    insert('categories', { id: pensionCategory, name: 'Pension', kind: 'spending' }),
    ...accounts.map((account, index) => insert('accounts', { ...account, currency, createdAtMs: createdAtMs + index })),
    insert('accounts', {
      id: 'sample-travel',
      name: 'Travel money',
      kind: 'cash',
      currency: otherCurrency,
      openingMinor: 12_000,
      createdAtMs: createdAtMs + accounts.length,
    }),
    ...bookings.flatMap(({ date, payee, text, amountMinor }, index) =>
      entryOf({ index, date, payee, text, amountMinor, createdAtMs }),
    ),
    ...months
      .flatMap((month) => transfersOf(month, bookings, createdAtMs))
      .filter(({ date }) => date <= today)
      .flatMap(({ statements }) => statements),
    ...months.flatMap((month) =>
      Object.entries(planMinor).map(([categoryId, amountMinor]) =>
        insert('assignments', {
          id: `sample/${month}/${categoryId}`,
          month,
          currency,
          categoryId,
          amountMinor,
          assignedAtMs: Date.parse(`${month}-01T00:00:00Z`),
        }),
      ),
    ),
    insert('goals', {
      id: `starter-groceries/${currency}`,
      categoryId: 'starter-groceries',
      currency,
      kind: 'monthly',
      amountMinor: 118_000,
      byMonth: null,
    }),
    insert('goals', {
      id: `starter-leisure/${currency}`,
      categoryId: 'starter-leisure',
      currency,
      kind: 'by-month',
      amountMinor: 90_000,
      byMonth: monthAfter(today.slice(0, 7), 5),
    }),
    ...schedules(monthAfter(today.slice(0, 7), 1), createdAtMs),
    insert('rules', {
      id: 'sample-rule-1',
      field: 'payee',
      test: 'starts',
      value: 'third rail',
      moreConditions: '[]',
      needs: 'all',
      categoryId: 'starter-eating-out',
      payee: 'Third Rail Coffee',
      notes: null,
      createdAtMs,
    }),
    insert('rules', {
      id: 'sample-rule-2',
      field: 'payee',
      test: 'contains',
      value: 'fennel',
      moreConditions: JSON.stringify([{ field: 'amount', test: 'at-least', value: '500' }]),
      needs: 'all',
      categoryId: 'starter-groceries',
      payee: null,
      notes: null,
      createdAtMs: createdAtMs + 1,
    }),
    insert('notes', {
      id: budgetNoteId,
      content: JSON.stringify(
        noteSaying(
          'Who pays what: rent and bills from Household, food with the card.\nThe summer: a week at the lake, if Leisure gets there.',
        ),
      ),
    }),
    insert('notes', {
      id: entryNoteId(entryId(bookings.length - 1)),
      content: JSON.stringify(noteSaying('Ask them about the receipt.')),
    }),
  ];
}

interface DatedBooking extends Booking {
  readonly date: string;
}

function bookingsUpTo(firstDay: string, today: string): DatedBooking[] {
  const dayCount = Math.round((Date.parse(today) - Date.parse(firstDay)) / 86_400_000) + 1;
  return liveThrough(createRandom(2_026), firstDay, dayCount, harbourHabits, [...harbourStanding, secondWages]).map(
    (booking) => ({ ...booking, date: isoDay(firstDay, booking.day) }),
  );
}

function entryId(index: number): string {
  return `sample/entry/${index}`;
}

/** Paid by card, in cash, or from the account. */
function accountOf(payee: string, text: string): string {
  if (payee.startsWith('Third Rail')) return 'sample-purse';
  return text.startsWith('CARD') ? 'sample-card' : 'sample-household';
}

/** Every tenth grocery receipt is split with a household item. */
function entryOf({
  index,
  date,
  payee,
  text,
  amountMinor,
  createdAtMs,
}: {
  index: number;
  date: string;
  payee: string;
  text: string;
  amountMinor: number;
  createdAtMs: number;
}): SqlStatement[] {
  const id = entryId(index);
  const categoryId = payee === secondWages.payee ? 'starter-income' : harbourCategory(payee);
  const isSplit = categoryId === 'starter-groceries' && index % 10 === 0;
  const homeMinor = Math.trunc(amountMinor / 4);
  const entry = insert('entries', {
    id,
    accountId: accountOf(payee, text),
    date,
    payee,
    notes: text.replace(/^CARD \d+\n?/, ''),
    categoryId: isSplit ? null : categoryId,
    amountMinor,
    enteredAtMs: createdAtMs + index,
    status: 'cleared',
  });
  if (!isSplit) return [entry];
  return [
    entry,
    insert('parts', { id: `${id}/1`, entryId: id, categoryId, amountMinor: amountMinor - homeMinor, notes: '' }),
    insert('parts', {
      id: `${id}/2`,
      entryId: id,
      categoryId: 'starter-home',
      amountMinor: homeMinor,
      notes: 'cleaning things',
    }),
  ];
}

interface SampleTransfer {
  readonly date: string;
  readonly statements: readonly SqlStatement[];
}

/** Each month, the card is paid, the purse refilled, and money put aside. */
function transfersOf(month: string, bookings: readonly DatedBooking[], createdAtMs: number): SampleTransfer[] {
  const spentIn = (accountId: string): number =>
    -bookings
      .filter(({ date, payee, text }) => date.startsWith(month) && accountOf(payee, text) === accountId)
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const transfer = (day: string, to: string, amountMinor: number, categoryId: string | null = null): SampleTransfer => {
    const date = `${month}-${day}`;
    const id = `sample/transfer/${to}/${date}`;
    const side = (suffix: string, accountId: string, minor: number, category: string | null): SqlStatement =>
      insert('entries', {
        id: `${id}/${suffix}`,
        accountId,
        date,
        categoryId: category,
        amountMinor: minor,
        enteredAtMs: createdAtMs,
        transferId: id,
        status: 'cleared',
      });
    return {
      date,
      statements: [side('out', 'sample-household', -amountMinor, categoryId), side('in', to, amountMinor, null)],
    };
  };
  return [
    transfer('02', 'sample-purse', Math.ceil(spentIn('sample-purse') / 1_000) * 1_000),
    transfer('26', 'sample-savings', 20_000),
    transfer('26', 'sample-pension', 12_000, pensionCategory),
    transfer('28', 'sample-card', spentIn('sample-card')),
  ];
}

function schedules(nextMonth: string, createdAtMs: number): SqlStatement[] {
  const monthly = { notes: '', every: 1, unit: 'month', lastDate: null, createdAtMs };
  const [rent] = harbourStanding;
  return [
    insert('schedules', {
      ...monthly,
      id: 'sample-schedule-rent',
      accountId: 'sample-household',
      otherAccountId: null,
      payee: rent?.payee ?? '',
      categoryId: 'starter-home',
      amountMinor: rent?.amountMinor ?? 0,
      firstDate: `${nextMonth}-01`,
    }),
    insert('schedules', {
      ...monthly,
      id: 'sample-schedule-savings',
      accountId: 'sample-household',
      otherAccountId: 'sample-savings',
      payee: '',
      categoryId: null,
      amountMinor: -20_000,
      firstDate: `${nextMonth}-26`,
    }),
  ];
}

function insert(table: string, row: Readonly<Record<string, SqlParam>>): SqlStatement {
  const columns = Object.keys(row);
  return {
    sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`,
    params: Object.values(row),
  };
}
