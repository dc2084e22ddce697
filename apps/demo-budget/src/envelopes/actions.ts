import { newId, type SqlStatement } from '@rockpool/client';
import type { Writer } from '../writer.ts';

/** Adds money to an envelope; a negative amount takes it out. */
export interface Assignment {
  readonly month: string;
  readonly currency: string;
  readonly categoryId: string;
  readonly amountMinor: number;
}

/** Adds to an envelope's assignment instead of setting it: if two people each assign 50, the envelope receives 100. */
export async function assign(writer: Writer, assignment: Assignment): Promise<void> {
  if (assignment.amountMinor !== 0) await writer.batch([insert(assignment)]);
}

/** Moves money from one envelope to another. Both rows are written in one transaction. */
export async function move(writer: Writer, from: Assignment, toCategoryId: string): Promise<void> {
  const taken = insert({ ...from, amountMinor: -from.amountMinor });
  await writer.batch([taken, insert({ ...from, categoryId: toCategoryId })], { atomic: true });
}

/** Assigns money to several envelopes at once, for example to copy the previous month. */
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
