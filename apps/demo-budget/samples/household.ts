import type { Random } from './random.ts';

/** One booking of an invented household, before it is written in a bank's wording and columns. */
export interface Booking {
  /** Days since the first day of the statement. */
  readonly day: number;
  readonly payee: string;
  readonly text: string;
  readonly amountMinor: number;
}

/** An irregular event: how often in a hundred days, and for how much. */
export interface Habit {
  readonly payee: string;
  readonly texts: readonly string[];
  readonly timesPer100Days: number;
  readonly fromMinor: number;
  readonly toMinor: number;
}

/** A monthly event, always on about the same day. */
export interface Standing {
  readonly payee: string;
  readonly text: string;
  readonly dayOfMonth: number;
  readonly amountMinor: number;
}

/** The bookings of `dayCount` days from `firstDay` (ISO date) on, in the order of days. */
export function liveThrough(
  random: Random,
  firstDay: string,
  dayCount: number,
  habits: readonly Habit[],
  standing: readonly Standing[],
): Booking[] {
  const bookings: Booking[] = [];
  for (let day = 0; day < dayCount; day += 1) {
    const dayOfMonth = Number(isoDay(firstDay, day).slice(8));
    for (const order of standing) {
      if (order.dayOfMonth === dayOfMonth)
        bookings.push({ day, payee: order.payee, text: order.text, amountMinor: order.amountMinor });
    }
    for (const habit of habits) {
      if (!random.chance(habit.timesPer100Days)) continue;
      const amountMinor = -random.between(habit.fromMinor, habit.toMinor);
      const booking = { day, payee: habit.payee, text: random.pick(habit.texts), amountMinor };
      bookings.push(booking);
      // The second coffee of a day costs the same as the first, which gives equal rows that an import must keep apart.
      if (habit.fromMinor === habit.toMinor && random.chance(20)) bookings.push(booking);
    }
  }
  return bookings;
}

/** The ISO date `days` after `firstDay`. */
export function isoDay(firstDay: string, days: number): string {
  return new Date(Date.parse(`${firstDay}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
