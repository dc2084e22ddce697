import type { CellValue } from '@rockpool/shared';
import { baseRow, fold, hiddenValues, withAdmitted, withDelivered, type Counters, type DeliveredRow, type HiddenValues, type PendingRowChange, type RowState } from './row-state.ts';

/** What became of pending changesets, by number. What is not in it is still pending. */
export type Decisions = ReadonlyMap<number, 'admitted' | 'rejected'>;

export interface RowBefore {
  readonly visible: RowState;
  readonly hidden: HiddenValues;
  /** Every changeset without an outcome before this delivery that touches the row, in order. */
  readonly pending: readonly PendingRowChange[];
  readonly counters: Counters;
}

export interface RowAfter {
  /** The server's row. */
  readonly base: RowState;
  readonly visible: RowState;
  readonly hidden: ReadonlyMap<number, CellValue>;
  /** What is still pending and shown. */
  readonly shown: readonly PendingRowChange[];
}

export interface RebaseRules {
  readonly decisions: Decisions;
  /** Pending changesets that the visible rows did not show so far: a constraint stood against them. */
  readonly withheldBefore: ReadonlySet<number>;
  /** Those that they shall not show from now on. */
  readonly withheldAfter: ReadonlySet<number>;
}

/**
 * Takes one row through one delivery, in the order of the stream: first what the server decided about my own changesets,
 * then what it says about the row; what is still pending goes on top again.
 *
 * Throws `value-invalid` when a counter that is still pending no longer fits.
 *
 * An admitted change becomes part of the server's row as I sent it, whether or not it was shown. Where it came out otherwise, the delivery says so.
 */
export function rebaseRow(row: RowBefore, delivered: readonly DeliveredRow[], rules: RebaseRules): RowAfter {
  const { decisions, withheldBefore, withheldAfter } = rules;
  const shownBefore = row.pending.filter(({ sequence }) => !withheldBefore.has(sequence));
  let base = baseRow(row.visible, shownBefore, row.hidden);
  for (const change of row.pending) if (decisions.get(change.sequence) === 'admitted') base = withAdmitted(base, change, row.counters);
  for (const change of delivered) base = withDelivered(base, change);
  const shown = row.pending.filter(({ sequence }) => !decisions.has(sequence) && !withheldAfter.has(sequence));
  const visible = fold(base, shown, row.counters);
  return { base, visible, hidden: hiddenValues(base, visible, shown), shown };
}
