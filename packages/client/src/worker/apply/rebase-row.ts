import { baseRow, fold, hiddenValues, withChange, type DeliveredRow, type HiddenValues, type PendingRowChange, type RowState } from './row-state.ts';
import type { CellValue } from '@rockpool/shared';

/** What became of pending changesets, by number. What is not in it is still pending. */
export type Decisions = ReadonlyMap<number, 'admitted' | 'rejected'>;

export interface RowBefore {
  readonly visible: RowState;
  readonly hidden: HiddenValues;
  /** Every changeset that was pending before this delivery and touches the row, in order. */
  readonly pending: readonly PendingRowChange[];
}

export interface RowAfter {
  readonly visible: RowState;
  readonly hidden: ReadonlyMap<number, CellValue>;
  readonly pending: readonly PendingRowChange[];
}

/**
 * Takes one row through one delivery, in the order of the stream: first what the server decided about my own changesets,
 * then what it says about the row; what is still pending goes on top again.
 *
 * An admitted change becomes part of the server's row as I sent it. Where it came out otherwise, the delivery says so.
 */
export function rebaseRow(row: RowBefore, decisions: Decisions, delivered: readonly DeliveredRow[]): RowAfter {
  let base = baseRow(row.visible, row.pending, row.hidden);
  const pending: PendingRowChange[] = [];
  for (const change of row.pending) {
    const decision = decisions.get(change.sequence);
    if (decision === undefined) pending.push(change);
    else if (decision === 'admitted') base = withChange(base, change);
  }
  for (const change of delivered) base = withChange(base, change);
  const visible = fold(base, pending);
  return { visible, hidden: hiddenValues(base, visible, pending), pending };
}
