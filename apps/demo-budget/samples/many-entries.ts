import { harbourCategory, harbourHabits, harbourStanding } from './harbour-checking.ts';
import { isoDay, liveThrough } from './household.ts';
import { createRandom } from './random.ts';

/** An entry with its table columns, except those the app generates. */
export interface SampleEntry {
  readonly accountId: string;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
}

export const manyAccounts = [
  { id: 'many-household', name: 'Household', kind: 'checking' },
  { id: 'many-card', name: 'Card', kind: 'credit' },
  { id: 'many-savings', name: 'Savings', kind: 'savings' },
] as const;

const yearsBack = 10;

/**
 * The household of the sample statement over the ten years up to `lastDay` (`YYYY-MM-DD`), repeated until there are
 * `count` entries. More than half of them are in the first account, so that one ledger is long.
 */
export function manyEntries(lastDay: string, count: number): SampleEntry[] {
  const dayCount = yearsBack * 365;
  const firstDay = isoDay(lastDay, 1 - dayCount);
  const entries: SampleEntry[] = [];
  for (let life = 0; entries.length < count; life += 1) {
    // Ten repetitions fill three accounts: six, three and one.
    const account = manyAccounts[life % 10 < 6 ? 0 : life % 10 < 9 ? 1 : 2] ?? manyAccounts[0];
    const bookings = liveThrough(createRandom(100_000 + life), firstDay, dayCount, harbourHabits, harbourStanding);
    // Counts from the last day back, so that recent months are full for any count.
    for (const { day, payee, text, amountMinor } of bookings.reverse().slice(0, count - entries.length)) {
      entries.push({
        accountId: account.id,
        date: isoDay(firstDay, day),
        payee,
        notes: text,
        categoryId: harbourCategory(payee),
        amountMinor,
      });
    }
  }
  return entries;
}
