import type { CellValue } from '@rockpool/shared';
import {
  serverRowBeneath,
  fold,
  foldAdmitted,
  coveredValues,
  withDelivered,
  type ColumnRules,
  type DeliveredChange,
  type CoveredValues,
  type PendingRowChange,
  type RowState,
} from './row-state.ts';

/** Outcomes of pending changesets, by sequence. A changeset that is not in the map is still pending. */
export type OutcomeKinds = ReadonlyMap<number, 'admitted' | 'rejected'>;

export interface RowBefore {
  readonly visible: RowState;
  readonly covered: CoveredValues;
  /** Every change of the row that had no outcome before this delivery, in order. */
  readonly pending: readonly PendingRowChange[];
  readonly columns: ColumnRules;
}

export interface RowAfter {
  readonly serverRow: RowState;
  readonly visible: RowState;
  readonly covered: ReadonlyMap<number, CellValue>;
  /** The changes that remain pending and visible. */
  readonly shown: readonly PendingRowChange[];
}

export interface RebaseRules {
  readonly outcomeKinds: OutcomeKinds;
  /** Pending changesets that were masked before this delivery. */
  readonly maskedBefore: ReadonlySet<number>;
  /** Pending changesets that are masked after it. */
  readonly maskedAfter: ReadonlySet<number>;
}

/**
 * Applies one delivery to one row: first the outcomes of this site's changesets, then the delivered changes, then the
 * changes that remain pending.
 *
 * An admitted change becomes part of the server's row as it was sent, whether or not it was visible. If the merge
 * produced a different value, the delivery contains that value.
 *
 * Throws like withChange for changes that remain pending.
 */
export function rebaseRow(row: RowBefore, delivered: readonly DeliveredChange[], rules: RebaseRules): RowAfter {
  const { outcomeKinds, maskedBefore, maskedAfter } = rules;
  const shownBefore = row.pending.filter(({ sequence }) => !maskedBefore.has(sequence));
  const atCursor = serverRowBeneath(row.visible, shownBefore, row.covered, row.columns);
  const admitted = row.pending.filter(({ sequence }) => outcomeKinds.get(sequence) === 'admitted');
  let serverRow = foldAdmitted(atCursor, admitted, row.columns);
  for (const change of delivered) serverRow = withDelivered(serverRow, change, row.columns, atCursor);
  const shown = row.pending.filter(({ sequence }) => !outcomeKinds.has(sequence) && !maskedAfter.has(sequence));
  // Changes that moved from pending into the server's row are already in the visible row.
  const isAlreadyVisible =
    delivered.length === 0 &&
    admitted.length + shown.length === shownBefore.length &&
    row.pending.length === shownBefore.length;
  const visible = isAlreadyVisible ? row.visible : fold(serverRow, shown, row.columns);
  return { serverRow, visible, covered: coveredValues(serverRow, visible, shown, row.columns), shown };
}
