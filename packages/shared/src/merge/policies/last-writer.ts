import { cellValuesEqual } from '../../change/cell-value.ts';
import type { CellMerge, CellWrite, DefaultPolicy } from '../column-policy.ts';
import type { Cell } from '../row-model.ts';
import { compareVersions } from '../version.ts';

/**
 * The policy of every column that declares no other: the later write replaces the earlier one. What it does is what
 * the other policies do where they leave a part out. Where nothing is concurrent, callers apply it without a call: the
 * value is stored, sent and shown as it is. There is nothing to validate beyond the column's type
 * (change/column-domain.ts), and nothing to capture.
 */
export const lastWriter: DefaultPolicy = {
  name: 'last-writer',
  undo: (current, written, before) => (cellValuesEqual(current, written) ? before : undefined),
  describe: (_before, written) => ({ after: written }),
};

/** The policy's `merge`: a function of its own, so that a device, which merges nothing, does not load it. */
export function mergeLastWriter({ columnId, before, value, version, seen }: CellWrite): CellMerge {
  const incoming: Cell = { value, version };
  if (seen || before === undefined) return { cell: incoming, conflicts: [], isCorrected: false };
  const incomingWins = compareVersions(version, before.version) > 0;
  const cell = incomingWins ? incoming : before;
  if (cellValuesEqual(value, before.value)) return { cell, conflicts: [], isCorrected: false };
  return {
    cell,
    conflicts: [{ columnId, rule: 'lww', lost: incomingWins ? before : incoming, won: cell }],
    isCorrected: !incomingWins,
  };
}
