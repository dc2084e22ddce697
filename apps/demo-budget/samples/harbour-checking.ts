import { isoDay, liveThrough, type Habit, type Standing } from './household.ts';
import { createRandom } from './random.ts';

const firstDay = '2023-11-01';
const dayCount = 800;
const rowCount = 2_000;

export const harbourStanding: readonly Standing[] = [
  { payee: 'Bramblewood Property Letting', text: 'RENT FLAT 12\nSTANDING ORDER', dayOfMonth: 1, amountMinor: -142_500 },
  { payee: 'Gullwing Energy', text: 'DIRECT DEBIT\nGAS AND POWER', dayOfMonth: 5, amountMinor: -11_840 },
  { payee: 'Tidewater Broadband', text: 'DIRECT DEBIT', dayOfMonth: 8, amountMinor: -3_400 },
  { payee: 'Pennywhistle Insurance', text: 'CONTENTS AND LIABILITY', dayOfMonth: 12, amountMinor: -2_275 },
  { payee: 'Marmalade & Moss Studio', text: 'SALARY\nTHANK YOU FOR YOUR WORK', dayOfMonth: 25, amountMinor: 412_019 },
  { payee: 'Orchard Lane Nursery', text: 'FEES', dayOfMonth: 27, amountMinor: -41_000 },
];

export const harbourHabits: readonly Habit[] = [
  {
    payee: 'Fennel & Fig Grocers',
    texts: ['CARD 4410\nHARBOUR STREET', 'CARD 4410\nMILL ROAD', 'CARD 4410'],
    timesPer100Days: 62,
    fromMinor: 540,
    toMinor: 11_980,
  },
  { payee: 'Third Rail Coffee', texts: ['CARD 4410'], timesPer100Days: 66, fromMinor: 380, toMinor: 380 },
  {
    payee: 'Lantern Tram Company',
    texts: ['TAP TO RIDE', 'TAP TO RIDE\nDAY CAP'],
    timesPer100Days: 48,
    fromMinor: 210,
    toMinor: 780,
  },
  {
    payee: 'The Drowsy Heron',
    texts: ['CARD 4410\n"TABLE 6"', 'CARD 4410'],
    timesPer100Days: 14,
    fromMinor: 1_850,
    toMinor: 9_400,
  },
  {
    payee: 'Copperkettle Hardware, Ltd',
    texts: ['CARD 4410\nPAINT, BRUSHES', 'CARD 4410'],
    timesPer100Days: 6,
    fromMinor: 700,
    toMinor: 18_200,
  },
  { payee: 'Willow Green Pharmacy', texts: ['CARD 4410'], timesPer100Days: 8, fromMinor: 450, toMinor: 4_900 },
  {
    payee: 'Papercrane Books',
    texts: ['ONLINE ORDER\nDELIVERED BY POST'],
    timesPer100Days: 8,
    fromMinor: 899,
    toMinor: 5_600,
  },
  {
    payee: 'Moonlight Picture House',
    texts: ['2 SEATS', '3 SEATS\nROW F'],
    timesPer100Days: 7,
    fromMinor: 1_700,
    toMinor: 4_350,
  },
  { payee: 'Little Otter Clothing', texts: ['CARD 4410'], timesPer100Days: 5, fromMinor: 1_499, toMinor: 12_900 },
  {
    payee: 'Saltmarsh Cycles',
    texts: ['SERVICE\n"FULL"', 'INNER TUBE'],
    timesPer100Days: 3,
    fromMinor: 900,
    toMinor: 16_500,
  },
];

/** Starter categories by the first word of the payee. */
const categoryByWord: Readonly<Record<string, string>> = {
  Bramblewood: 'starter-home',
  Gullwing: 'starter-bills',
  Tidewater: 'starter-bills',
  Pennywhistle: 'starter-bills',
  Marmalade: 'starter-income',
  Orchard: 'starter-children',
  Fennel: 'starter-groceries',
  Third: 'starter-eating-out',
  Lantern: 'starter-transport',
  The: 'starter-eating-out',
  Willow: 'starter-health',
  Papercrane: 'starter-leisure',
  Moonlight: 'starter-leisure',
  Little: 'starter-clothes',
};

/** The starter category of a payee; null for payees left uncategorised. */
export function harbourCategory(payee: string): string | null {
  return categoryByWord[payee.split(' ')[0] ?? ''] ?? null;
}

/**
 * The CSV file of a checking account: comma-separated, month-first dates, decimal points, quoted notes of several
 * lines; 2,000 rows, oldest first.
 */
export function harbourChecking(): string {
  const bookings = liveThrough(createRandom(4_410), firstDay, dayCount, harbourHabits, harbourStanding).slice(
    0,
    rowCount,
  );
  if (bookings.length < rowCount)
    throw new Error(`only ${bookings.length} of ${rowCount} rows were generated: increase dayCount`);
  let balanceMinor = 512_644;
  const lines = bookings.map((booking) => {
    balanceMinor += booking.amountMinor;
    const iso = isoDay(firstDay, booking.day);
    const date = `${iso.slice(5, 7)}/${iso.slice(8)}/${iso.slice(0, 4)}`;
    return [
      date,
      quoted(booking.payee),
      quoted(booking.text),
      quoted(amountText(booking.amountMinor)),
      quoted(amountText(balanceMinor)),
    ].join(',');
  });
  return ['Date,Description,Memo,Amount,Balance', ...lines, ''].join('\n');
}

function amountText(amountMinor: number): string {
  const digits = String(Math.abs(amountMinor)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${amountMinor < 0 ? '-' : ''}${whole}.${digits.slice(-2)}`;
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
