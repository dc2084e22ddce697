import { monthsBetween } from '../calendar/months.ts';
import type { Envelope } from '../envelopes/envelopes.ts';
import type { GoalRow } from '../queries/goals.ts';

export interface GoalState {
  /** The amount to add this month to be on track. Never negative. */
  readonly neededMinor: bigint;
  /** From 0 to 1. */
  readonly progress: number;
}

/**
 * The state of an envelope's goal in a month.
 * - `monthly`: assign the amount each month, whatever was left over.
 * - `up-to`: at the start of the month, assign what is missing from the amount; spending is refilled in the next
 *   month.
 * - `by-month`: reach the amount by that month, in equal shares of what was missing when this month began; the whole
 *   remainder once that month has passed.
 */
export function goalState(
  goal: GoalRow,
  envelope: Pick<Envelope, 'assignedMinor' | 'carriedMinor' | 'availableMinor'>,
  month: string,
): GoalState {
  const goalMinor = BigInt(goal.amountMinor);
  if (goal.kind === 'up-to') {
    const heldMinor = envelope.carriedMinor + envelope.assignedMinor;
    return { neededMinor: atLeastNothing(goalMinor - heldMinor), progress: share(heldMinor, goalMinor) };
  }
  if (goal.kind === 'monthly' || goal.byMonth === null) {
    return {
      neededMinor: atLeastNothing(goalMinor - envelope.assignedMinor),
      progress: share(envelope.assignedMinor, goalMinor),
    };
  }
  const monthsLeft = BigInt(Math.max(1, monthsBetween(month, goal.byMonth) + 1));
  const lacking = atLeastNothing(goalMinor - envelope.carriedMinor);
  const shareMinor = (lacking + monthsLeft - 1n) / monthsLeft;
  return {
    neededMinor: atLeastNothing(shareMinor - envelope.assignedMinor),
    progress: share(envelope.availableMinor, goalMinor),
  };
}

function atLeastNothing(minor: bigint): bigint {
  return minor < 0n ? 0n : minor;
}

function share(minor: bigint, ofMinor: bigint): number {
  if (ofMinor <= 0n || minor >= ofMinor) return 1;
  return minor <= 0n ? 0 : Number(minor) / Number(ofMinor);
}
