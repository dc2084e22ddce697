import type { GoalKind } from '../schema.ts';
import type { Writer } from '../writer.ts';

export interface Goal {
  readonly categoryId: string;
  readonly currency: string;
  readonly kind: GoalKind;
  readonly amountMinor: number;
  readonly byMonth: string | null;
}

/** An envelope has one goal: a new goal replaces the previous one. */
export async function setGoal(
  writer: Writer,
  { categoryId, currency, kind, amountMinor, byMonth }: Goal,
): Promise<void> {
  await writer.execute(
    `INSERT INTO goals (id, categoryId, currency, kind, amountMinor, byMonth) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, amountMinor = excluded.amountMinor, byMonth = excluded.byMonth`,
    [`${categoryId}/${currency}`, categoryId, currency, kind, amountMinor, byMonth],
  );
}

export async function removeGoal(writer: Writer, categoryId: string, currency: string): Promise<void> {
  await writer.execute('DELETE FROM goals WHERE id = ?', [`${categoryId}/${currency}`]);
}
