import { cellValuesEqual } from '../../change/cell-value.ts';
import type { DefaultPolicy } from '../column-policy.ts';
import type { Cell, Conflict } from '../row-model.ts';
import { compareVersions } from '../version.ts';

/**
 * The policy of every column that declares no other: the later write replaces the earlier one. Other policies inherit
 * the methods that they omit. Without a concurrent write, callers skip the policy: the value is stored, sent and shown
 * unchanged. There is nothing to validate beyond the column's type (change/column-domain.ts), and nothing to capture.
 */
export const lastWriter: DefaultPolicy = {
  name: 'last-writer',
  undo: (current, written, before) => (cellValuesEqual(current, written) ? before : undefined),
  describe: (_before, written) => ({ after: written }),
};

/** The result of merging a row. The merge of each cell adds to it. */
export interface MergedCells {
  readonly cells: Map<number, Cell>;
  readonly conflicts: Conflict[];
  readonly corrected: number[];
}

/**
 * The policy's `merge`. It is a separate function, so that a device, which merges nothing, does not load it. It writes
 * into the row's result, because it runs for every concurrent write.
 */
export function mergeLastWriter(
  columnId: number,
  before: Cell | undefined,
  incoming: Cell,
  seen: boolean,
  { cells, conflicts, corrected }: MergedCells,
): void {
  if (seen || before === undefined) {
    cells.set(columnId, incoming);
    return;
  }
  const incomingWins = compareVersions(incoming.version, before.version) > 0;
  if (incomingWins) cells.set(columnId, incoming);
  if (cellValuesEqual(incoming.value, before.value)) return;
  if (!incomingWins) corrected.push(columnId);
  conflicts.push({
    columnId,
    rule: 'lww',
    lost: incomingWins ? before : incoming,
    won: incomingWins ? incoming : before,
  });
}
