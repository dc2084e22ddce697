import { describe, expect, it } from 'vitest';
import { addCategory } from '../categories/actions.ts';
import { goalsInCurrency, type GoalRow } from '../queries/goals.ts';
import { memoryWriter } from '../../testing/memory-writer.ts';
import { removeGoal, setGoal } from './actions.ts';
import { goalState } from './goal-state.ts';

const monthly: GoalRow = { categoryId: 'food', kind: 'monthly', amountMinor: 40_000, byMonth: null };
const byMonth: GoalRow = { categoryId: 'trip', kind: 'by-month', amountMinor: 100_000, byMonth: '2026-02' };
const envelope = (
  carriedMinor: bigint,
  assignedMinor: bigint,
  spentMinor = 0n,
): { carriedMinor: bigint; assignedMinor: bigint; availableMinor: bigint } => ({
  carriedMinor,
  assignedMinor,
  availableMinor: carriedMinor + assignedMinor - spentMinor,
});

describe('a monthly goal', () => {
  it('is met by assigning money, however much was spent or carried over', () => {
    expect(goalState(monthly, envelope(90_000n, 10_000n, 5_000n), '2025-11')).toEqual({
      neededMinor: 30_000n,
      progress: 0.25,
    });
    expect(goalState(monthly, envelope(0n, 40_000n, 40_000n), '2025-11')).toEqual({ neededMinor: 0n, progress: 1 });
    expect(goalState(monthly, envelope(0n, -500n), '2025-11')).toEqual({ neededMinor: 40_500n, progress: 0 });
  });
});

it('a refill goal asks for what was missing when the month began, whatever is spent during it', () => {
  const upTo: GoalRow = { categoryId: 'car', kind: 'up-to', amountMinor: 40_000, byMonth: null };
  expect(goalState(upTo, envelope(30_000n, 0n, 25_000n), '2025-11')).toEqual({ neededMinor: 10_000n, progress: 0.75 });
  expect(goalState(upTo, envelope(30_000n, 10_000n, 40_000n), '2025-11')).toEqual({ neededMinor: 0n, progress: 1 });
  expect(goalState(upTo, envelope(90_000n, 0n), '2025-11')).toEqual({ neededMinor: 0n, progress: 1 });
});

describe('a goal with a target month', () => {
  it('asks for equal shares, including this month', () => {
    expect(goalState(byMonth, envelope(0n, 0n), '2025-11')).toEqual({ neededMinor: 25_000n, progress: 0 });
    expect(goalState(byMonth, envelope(25_000n, 25_000n), '2025-12')).toEqual({ neededMinor: 0n, progress: 0.5 });
    expect(goalState(byMonth, envelope(50_001n, 0n), '2026-01').neededMinor).toBe(25_000n);
  });

  it('asks for the whole remainder in its month and after it', () => {
    expect(goalState(byMonth, envelope(60_000n, 10_000n), '2026-02').neededMinor).toBe(30_000n);
    expect(goalState(byMonth, envelope(60_000n, 10_000n), '2026-07').neededMinor).toBe(30_000n);
    expect(goalState(byMonth, envelope(100_000n, 0n), '2026-07')).toEqual({ neededMinor: 0n, progress: 1 });
  });
});

it('an envelope has one goal per currency', async () => {
  const writer = memoryWriter();
  const categoryId = await addCategory(writer, 'Trip', 'spending');
  await setGoal(writer, { ...byMonth, categoryId, currency: 'EUR' });
  await setGoal(writer, { ...monthly, categoryId, currency: 'EUR' });
  await setGoal(writer, { ...monthly, categoryId, currency: 'JPY' });
  expect(writer.rows(goalsInCurrency, ['EUR'])).toEqual([{ ...monthly, categoryId }]);
  // Another person changed the goal while its form was open, and the form is saved unchanged.
  await setGoal(writer, { ...byMonth, categoryId, currency: 'EUR' }, byMonth);
  expect(writer.rows(goalsInCurrency, ['EUR'])).toEqual([{ ...monthly, categoryId }]);
  await removeGoal(writer, categoryId, 'EUR');
  expect(writer.rows(goalsInCurrency, ['EUR'])).toEqual([]);
});
