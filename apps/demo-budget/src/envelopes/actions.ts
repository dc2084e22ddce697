import { newId, type SqlStatement } from '@rockpool/client';
import type { Writer } from '../writer.ts';

/** Money put into an envelope, or taken out of it where negative. */
export interface Assignment {
  readonly month: string;
  readonly currency: string;
  readonly categoryId: string;
  readonly amountMinor: number;
}

/** Adds to what an envelope has. Never "set it to": two people who each put 50 in have put in 100. */
export async function assign(writer: Writer, assignment: Assignment): Promise<void> {
  if (assignment.amountMinor !== 0) await writer.batch([insert(assignment)]);
}

/** From one envelope into another; both or neither, on every device. */
export async function move(writer: Writer, from: Assignment, toCategoryId: string): Promise<void> {
  const taken = insert({ ...from, amountMinor: -from.amountMinor });
  await writer.batch([taken, insert({ ...from, categoryId: toCategoryId })], { atomic: true });
}

/** Gives several envelopes money at once, as when a month begins like the last one. */
export async function assignAll(writer: Writer, assignments: readonly Assignment[]): Promise<void> {
  const wanted = assignments.filter(({ amountMinor }) => amountMinor !== 0);
  if (wanted.length > 0) await writer.batch(wanted.map((assignment) => insert(assignment)));
}

function insert({ month, currency, categoryId, amountMinor }: Assignment): SqlStatement {
  return {
    sql: 'INSERT INTO assignments (id, month, currency, categoryId, amountMinor, assignedAtMs) VALUES (?, ?, ?, ?, ?, ?)',
    params: [newId(), month, currency, categoryId, amountMinor, Date.now()],
  };
}
