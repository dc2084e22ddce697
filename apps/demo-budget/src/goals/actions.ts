import type { GoalKind } from '../schema.ts';
import type { Writer } from '../writer.ts';

export interface GoalValues {
  readonly kind: GoalKind;
  readonly amountMinor: number;
  readonly byMonth: string | null;
}

export interface Goal extends GoalValues {
  readonly categoryId: string;
  readonly currency: string;
}

/**
 * An envelope has one goal: a new goal replaces the previous one. A goal that is equal to the one that the user saw
 * (`before`) is not written, because another person may have changed it since.
 */
export async function setGoal(
  writer: Writer,
  { categoryId, currency, kind, amountMinor, byMonth }: Goal,
  before?: GoalValues,
): Promise<void> {
  if (kind === before?.kind && amountMinor === before.amountMinor && byMonth === before.byMonth) return;
  await writer.execute(
    `INSERT INTO goals (id, categoryId, currency, kind, amountMinor, byMonth) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, amountMinor = excluded.amountMinor, byMonth = excluded.byMonth`,
    [`${categoryId}/${currency}`, categoryId, currency, kind, amountMinor, byMonth],
  );
}

export async function removeGoal(writer: Writer, categoryId: string, currency: string): Promise<void> {
  await writer.execute('DELETE FROM goals WHERE id = ?', [`${categoryId}/${currency}`]);
}
