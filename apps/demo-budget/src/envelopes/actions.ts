import { newId, type SqlStatement } from '@rockpool/client';
import type { Writer } from '../writer.ts';

/** Money of an envelope in a month. */
export interface Assignment {
  readonly month: string;
  readonly currency: string;
  readonly categoryId: string;
  readonly amountMinor: number;
}

/**
 * Assigns these amounts to envelopes, by adding the difference from the current amounts. The statement computes it: the
 * page may still show older amounts, for example at the second click of a double click. If two people each raise an
 * envelope by 50 at once, it receives 100.
 */
export async function assign(writer: Writer, assignments: readonly Assignment[]): Promise<void> {
  if (assignments.length === 0) return;
  await writer.batch(
    assignments.map(({ month, currency, categoryId, amountMinor }) => ({
      sql: `INSERT INTO assignments (id, month, currency, categoryId, amountMinor, assignedAtMs)
            SELECT ?, ?, ?, ?, ? - present.amountMinor, ?
            FROM (SELECT coalesce(sum(amountMinor), 0) AS amountMinor FROM assignments WHERE month = ? AND currency = ? AND categoryId = ?) AS present
            WHERE present.amountMinor <> ?`,
      params: [newId(), month, currency, categoryId, amountMinor, Date.now(), month, currency, categoryId, amountMinor],
    })),
  );
}

/** Moves money from one envelope to another. Both rows are written in one transaction. */
export async function move(writer: Writer, from: Assignment, toCategoryId: string): Promise<void> {
  const taken = insert({ ...from, amountMinor: -from.amountMinor });
  await writer.batch([taken, insert({ ...from, categoryId: toCategoryId })], { atomic: true });
}

function insert({ month, currency, categoryId, amountMinor }: Assignment): SqlStatement {
  return {
    sql: 'INSERT INTO assignments (id, month, currency, categoryId, amountMinor, assignedAtMs) VALUES (?, ?, ?, ?, ?, ?)',
    params: [newId(), month, currency, categoryId, amountMinor, Date.now()],
  };
}
