import type { CategoryRow } from '../queries/categories.ts';
import type { ActivityRow, AssignedRow } from '../queries/envelopes.ts';

/** One category in one month. */
export interface Envelope {
  readonly categoryId: string;
  readonly name: string;
  readonly hidden: boolean;
  /** Empty for none. */
  readonly groupName: string;
  readonly note: string;
  /** Whether overspending stays in the envelope instead of being covered from unassigned money when the month ends. */
  readonly keepsOverspent: boolean;
  /** Money left from earlier months; negative only if the envelope keeps its overspending. */
  readonly carriedMinor: bigint;
  readonly assignedMinor: bigint;
  /** Spending less refunds. */
  readonly spentMinor: bigint;
  /** The remaining money. Negative if overspent. */
  readonly availableMinor: bigint;
}

export interface MonthBudget {
  readonly envelopes: readonly Envelope[];
  /** Money not assigned to any envelope. Negative if the assignments exceed the money. */
  readonly unassignedMinor: bigint;
  readonly assignedMinor: bigint;
  readonly spentMinor: bigint;
  readonly availableMinor: bigint;
  /** Overspending of earlier months that was covered from unassigned money. */
  readonly overspentBeforeMinor: bigint;
}

export interface EnvelopeInput {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly categories: readonly CategoryRow[];
  readonly assigned: readonly AssignedRow[];
  readonly activity: readonly ActivityRow[];
  /** The accounts' total opening balance. */
  readonly openingMinor: bigint;
}

/**
 * Computes the envelopes of a month from all months up to it. Money left in an envelope carries over. Overspending is
 * covered from unassigned money when its month ends, and the envelope starts the next month at zero, unless the
 * envelope keeps its overspending.
 *
 * Invariant: unassigned money plus all available money equals what the accounts held at the end of the month.
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
      const isCovered = left < 0n && category.keepsOverspent === 0;
      if (isCovered) overspentBeforeMinor -= left;
      carriedMinor = isCovered ? 0n : left;
    }
    const assignedMinor = assignedIn(month, category.id);
    const changeMinor = changeIn(month, category.id);
    return {
      categoryId: category.id,
      name: category.name,
      hidden: category.hidden === 1,
      groupName: category.groupName,
      note: category.note,
      keepsOverspent: category.keepsOverspent === 1,
      carriedMinor,
      assignedMinor,
      spentMinor: -changeMinor,
      availableMinor: carriedMinor + assignedMinor + changeMinor,
    };
  });
  const isEnvelope = new Set(spending.map(({ id }) => id));
  // Income and uncategorised entries, in either direction.
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
