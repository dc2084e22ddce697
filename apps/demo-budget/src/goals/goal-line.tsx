import type { ReactNode } from 'react';
import { formatMinor } from '../money/format.ts';
import type { GoalRow } from '../queries/goals.ts';
import { formatMonth, locale } from '../shell/locale.ts';
import type { GoalState } from './goal-state.ts';

/** An envelope's progress towards its goal, as a bar and in words. */
export function GoalLine({
  goal,
  state,
  currency,
}: {
  readonly goal: GoalRow;
  readonly state: GoalState;
  readonly currency: string;
}): ReactNode {
  const amount = formatMinor(goal.amountMinor, currency, locale);
  const aim =
    goal.kind === 'up-to'
      ? `refill to ${amount}`
      : goal.byMonth === null
        ? `${amount} each month`
        : `${amount} by ${formatMonth(goal.byMonth)}`;
  const standing =
    state.neededMinor === 0n
      ? state.progress === 1
        ? 'reached'
        : 'on track'
      : `${formatMinor(state.neededMinor, currency, locale)} more this month`;
  return (
    <span className="goal">
      <progress className="goal-bar" value={state.progress} max={1} aria-label={`Goal: ${aim}`} />
      <span className="notes">
        {aim} · {standing}
      </span>
    </span>
  );
}
