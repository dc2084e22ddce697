import { monthAfter } from '../calendar/months.ts';
import { goalState } from '../goals/goal-state.ts';
import { minorDigits } from '../money/currency.ts';
import type { ActivityRow, AssignedRow } from '../queries/envelopes.ts';
import type { GoalRow } from '../queries/goals.ts';
import type { Assignment } from './actions.ts';
import type { Envelope } from './envelopes.ts';

export interface QuickAssignmentsInput {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly currency: string;
  readonly envelopes: readonly Envelope[];
  readonly assigned: readonly AssignedRow[];
  readonly activity: readonly ActivityRow[];
  readonly goals: readonly GoalRow[];
}

/** Assignments of several envelopes at once. Empty if there is nothing to assign in this way. */
export interface QuickAssignments {
  /** What each goal needs this month. */
  readonly goals: readonly Assignment[];
  /** Last month's assignment, for envelopes without one. */
  readonly likeLastMonth: readonly Assignment[];
  /**
   * The average spending of the three months before, in whole units of the currency, for envelopes without an
   * assignment.
   */
  readonly average: readonly Assignment[];
}

export function quickAssignments(input: QuickAssignmentsInput): QuickAssignments {
  const { month, currency, envelopes, assigned, activity, goals } = input;
  const monthBefore = monthAfter(month, -1);
  const threeBefore = [-1, -2, -3].map((offset) => monthAfter(month, offset));
  const assignments = (addedTo: (envelope: Envelope) => bigint): Assignment[] =>
    envelopes.flatMap((envelope) => {
      const { categoryId, assignedMinor } = envelope;
      const addedMinor = addedTo(envelope);
      return addedMinor === 0n
        ? []
        : [{ month, currency, categoryId, amountMinor: Number(assignedMinor + addedMinor) }];
    });
  const neededFor = (envelope: Envelope): bigint => {
    const goal = goals.find(({ categoryId }) => categoryId === envelope.categoryId);
    return goal === undefined ? 0n : goalState(goal, envelope, month).neededMinor;
  };
  const assignedBefore = (envelope: Envelope): bigint => {
    const before = assigned.find((row) => row.month === monthBefore && row.categoryId === envelope.categoryId);
    return BigInt(before?.assignedMinor ?? 0);
  };
  const averageOf = (envelope: Envelope): bigint => {
    const spentMinor = activity
      .filter((row) => row.categoryId === envelope.categoryId && threeBefore.includes(row.month))
      .reduce((sum, { changeMinor }) => sum - BigInt(changeMinor), 0n);
    const unit = 10n ** BigInt(minorDigits(currency));
    const averageMinor = ((spentMinor / 3n + unit / 2n) / unit) * unit;
    return averageMinor > 0n ? averageMinor : 0n;
  };
  const ifUnassigned =
    (amountOf: (envelope: Envelope) => bigint) =>
    (envelope: Envelope): bigint =>
      envelope.assignedMinor === 0n ? amountOf(envelope) : 0n;
  return {
    goals: assignments(neededFor),
    likeLastMonth: assignments(ifUnassigned(assignedBefore)),
    average: assignments(ifUnassigned(averageOf)),
  };
}
