import type { CellValue } from '@rockpool/shared';
import {
  baseRow,
  fold,
  foldAdmitted,
  coveredValues,
  withDelivered,
  type ColumnRules,
  type DeliveredRow,
  type CoveredValues,
  type PendingRowChange,
  type RowState,
} from './row-state.ts';

/** What became of pending changesets, by number. What is not in it is still pending. */
export type OutcomeKinds = ReadonlyMap<number, 'admitted' | 'rejected'>;

export interface RowBefore {
  readonly visible: RowState;
  readonly covered: CoveredValues;
  /** Every changeset without an outcome before this delivery that touches the row, in order. */
  readonly pending: readonly PendingRowChange[];
  readonly columns: ColumnRules;
}

export interface RowAfter {
  /** The server's row. */
  readonly base: RowState;
  readonly visible: RowState;
  readonly covered: ReadonlyMap<number, CellValue>;
  /** What is still pending and shown. */
  readonly shown: readonly PendingRowChange[];
}

export interface RebaseRules {
  readonly outcomeKinds: OutcomeKinds;
  /** Pending changesets that the visible rows did not show so far: a constraint stood against them. */
  readonly maskedBefore: ReadonlySet<number>;
  /** Those that they shall not show from now on. */
  readonly maskedAfter: ReadonlySet<number>;
}

/**
 * Takes one row through one delivery, in the order of the stream: first what the server decided about my own
 * changesets, then what it says about the row; what is still pending goes on top again.
 *
 * Throws as withChange does, for what is still pending.
 *
 * An admitted change becomes part of the server's row as I sent it, whether or not it was shown. Where it came out
 * otherwise, the delivery says so.
 */
export function rebaseRow(row: RowBefore, delivered: readonly DeliveredRow[], rules: RebaseRules): RowAfter {
  const { outcomeKinds, maskedBefore, maskedAfter } = rules;
  const shownBefore = row.pending.filter(({ sequence }) => !maskedBefore.has(sequence));
  const atCursor = baseRow(row.visible, shownBefore, row.covered, row.columns);
  const admitted = row.pending.filter(({ sequence }) => outcomeKinds.get(sequence) === 'admitted');
  let base = foldAdmitted(atCursor, admitted, row.columns);
  for (const change of delivered) base = withDelivered(base, change, row.columns, atCursor);
  const shown = row.pending.filter(({ sequence }) => !outcomeKinds.has(sequence) && !maskedAfter.has(sequence));
  // What moved from the pending changes into the server's row is in the visible one already.
  const isAlreadyVisible =
    delivered.length === 0 &&
    admitted.length + shown.length === shownBefore.length &&
    row.pending.length === shownBefore.length;
  const visible = isAlreadyVisible ? row.visible : fold(base, shown, row.columns);
  return { base, visible, covered: coveredValues(base, visible, shown, row.columns), shown };
}
