import type { CategoryRow } from '../queries/categories.ts';
import type { ActivityRow, AssignedRow } from '../queries/envelopes.ts';

/** One category in one month. */
export interface Envelope {
  readonly categoryId: string;
  readonly name: string;
  readonly hidden: boolean;
  /** What it has overspent stays in it, instead of being covered each month when the month ends. */
  readonly keepsOverspent: boolean;
  /** What was left over from the months before; less than nothing only where it keeps what it has overspent. */
  readonly carriedMinor: bigint;
  readonly assignedMinor: bigint;
  /** What was spent, less what came back. */
  readonly spentMinor: bigint;
  /** What is left. Negative: more was spent than there was. */
  readonly availableMinor: bigint;
}

export interface MonthBudget {
  readonly envelopes: readonly Envelope[];
  /** Money that no envelope has yet. Negative: more was assigned than there is. */
  readonly unassignedMinor: bigint;
  readonly assignedMinor: bigint;
  readonly spentMinor: bigint;
  readonly availableMinor: bigint;
  /** What earlier months overspent, and this and earlier months' unassigned money covered each month. */
  readonly overspentBeforeMinor: bigint;
  /** What was spent without a category in this month. It is taken from unassigned money. */
  readonly uncategorisedSpentMinor: bigint;
}

export interface EnvelopeInput {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly categories: readonly CategoryRow[];
  readonly assigned: readonly AssignedRow[];
  readonly activity: readonly ActivityRow[];
  /** What the accounts held before their first entries. */
  readonly openingMinor: bigint;
}

/**
 * The envelopes of a month, from all months up to it. What is left in an envelope stays in it; what one has overspent
 * is covered each month from unassigned money when its month ends, and the envelope begins anew with nothing, unless it is one
 * that keeps that.
 *
 * One sum always holds: unassigned money and all that is available are together what the accounts held at the end of
 * the month.
 */
export function monthBudget({ month, categories, assigned, activity, openingMinor }: EnvelopeInput): MonthBudget {
  const spending = categories.filter(({ kind }) => kind === 'spending');
  const months = [...new Set([...assigned, ...activity].map((row) => row.month))]
    .filter((known) => known < month)
    .sort();
  const assignedIn = lookUp(assigned.map((row) => [row.month, row.categoryId, BigInt(row.assignedMinor)]));
  const changeIn = lookUp(activity.map((row) => [row.month, row.categoryId, BigInt(row.changeMinor)]));
  let overspentBeforeMinor = 0n;
  const envelopes = spending.map((category): Envelope => {
    let carriedMinor = 0n;
    for (const earlier of months) {
      const left = carriedMinor + assignedIn(earlier, category.id) + changeIn(earlier, category.id);
      const isMadeGood = left < 0n && category.keepsOverspent === 0;
      if (isMadeGood) overspentBeforeMinor -= left;
      carriedMinor = isMadeGood ? 0n : left;
    }
    const assignedMinor = assignedIn(month, category.id);
    const changeMinor = changeIn(month, category.id);
    return {
      categoryId: category.id,
      name: category.name,
      hidden: category.hidden === 1,
      keepsOverspent: category.keepsOverspent === 1,
      carriedMinor,
      assignedMinor,
      spentMinor: -changeMinor,
      availableMinor: carriedMinor + assignedMinor + changeMinor,
    };
  });
  const isEnvelope = new Set(spending.map(({ id }) => id));
  // Income, and what has no category yet, whichever way it went.
  const withoutEnvelope = activity.filter(
    (row) => row.month <= month && (row.categoryId === null || !isEnvelope.has(row.categoryId)),
  );
  const everAssigned = assigned.filter((row) => row.month <= month && isEnvelope.has(row.categoryId));
  return {
    envelopes,
    unassignedMinor:
      openingMinor +
      sum(withoutEnvelope.map((row) => BigInt(row.changeMinor))) -
      sum(everAssigned.map((row) => BigInt(row.assignedMinor))) -
      overspentBeforeMinor,
    assignedMinor: sum(envelopes.map((envelope) => envelope.assignedMinor)),
    spentMinor: sum(envelopes.map((envelope) => envelope.spentMinor)),
    availableMinor: sum(envelopes.map((envelope) => envelope.availableMinor)),
    overspentBeforeMinor,
    uncategorisedSpentMinor: sum(
      activity
        .filter((row) => row.month === month && row.categoryId === null)
        .map((row) => (row.changeMinor < 0 ? -BigInt(row.changeMinor) : 0n)),
    ),
  };
}

function lookUp(
  cells: readonly (readonly [string, string | null, bigint])[],
): (month: string, categoryId: string) => bigint {
  const byCell = new Map<string, bigint>();
  for (const [month, categoryId, minor] of cells) {
    const name = `${month} ${categoryId ?? ''}`;
    byCell.set(name, (byCell.get(name) ?? 0n) + minor);
  }
  return (month, categoryId) => byCell.get(`${month} ${categoryId}`) ?? 0n;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
