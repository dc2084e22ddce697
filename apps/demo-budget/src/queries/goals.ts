import type { GoalKind } from '../schema.ts';

export interface GoalRow {
  readonly categoryId: string;
  readonly kind: GoalKind;
  readonly amountMinor: number;
  readonly byMonth: string | null;
}

/** The goals of envelopes. Parameter: currency. */
export const goalsInCurrency = `
  SELECT categoryId, kind, amountMinor, byMonth FROM goals WHERE currency = ?`;
