import type { MonthBudget } from '../envelopes/envelopes.ts';

/** The effect of a what-if on the money of one envelope in a month. */
export interface EnvelopeEffect {
  readonly categoryId: string;
  readonly name: string;
  readonly todayMinor: bigint;
  readonly whatIfMinor: bigint;
}

export interface MonthEffect {
  /** The envelopes whose available money differs, in the order of the budget. */
  readonly envelopes: readonly EnvelopeEffect[];
  readonly unassigned: Omit<EnvelopeEffect, 'categoryId' | 'name'>;
}

/**
 * Compares a month of the what-if with the same month of today's budget. An envelope that one of them lacks counts as
 * empty there.
 */
export function monthEffect(today: MonthBudget, whatIf: MonthBudget): MonthEffect {
  const before = new Map(today.envelopes.map((envelope) => [envelope.categoryId, envelope]));
  const after = new Set(whatIf.envelopes.map(({ categoryId }) => categoryId));
  const removed = today.envelopes.filter(({ categoryId }) => !after.has(categoryId));
  return {
    envelopes: [
      ...whatIf.envelopes.map(({ categoryId, name, availableMinor }) => ({
        categoryId,
        name,
        todayMinor: before.get(categoryId)?.availableMinor ?? 0n,
        whatIfMinor: availableMinor,
      })),
      ...removed.map(({ categoryId, name, availableMinor }) => ({
        categoryId,
        name,
        todayMinor: availableMinor,
        whatIfMinor: 0n,
      })),
    ].filter(({ todayMinor, whatIfMinor }) => todayMinor !== whatIfMinor),
    unassigned: { todayMinor: today.unassignedMinor, whatIfMinor: whatIf.unassignedMinor },
  };
}
