import { monthsBetween } from '../calendar/months.ts';
import type { Envelope } from '../envelopes/envelopes.ts';
import type { GoalRow } from '../queries/goals.ts';

export interface GoalState {
  /** What the envelope still lacks this month to be on track. Never negative. */
  readonly neededMinor: bigint;
  /** From 0 to 1. */
  readonly progress: number;
}

/**
 * Where an envelope stands with its goal in a month. Each month: so much assigned, whatever was there before. Up to: as
 * much as lacks to what it is to hold when the month begins; what is spent in it is filled up in the next. By a month:
 * so much in the envelope by then, in equal shares of what was lacking when this month began; all of it at once when
 * that month has passed.
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
