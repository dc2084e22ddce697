import type { CellValue } from '../change/cell-value.ts';
import type { Cell, RowChange } from './row-model.ts';
import { hasSeen, isOwn, type WriteVersion } from './version.ts';

/** Whether the author of a change had seen everything that is in a cell. */
export function hasSeenCell({ baseOf, version }: RowChange, columnId: number, cell: Cell | undefined): boolean {
  if (cell === undefined) return true;
  const base = baseOf(columnId);
  return (
    hasSeen(base, version, cell.version) && (cell.otherSite === undefined || hasSeen(base, version, cell.otherSite))
  );
}

/**
 * Whether the author's copy has everything in a cell. It may lack what the author wrote under an earlier site id: that
 * leaves the rows until a delivery brings it back.
 */
export function hasCell(change: RowChange, columnId: number, cell: Cell | undefined): boolean {
  return hasSeenCell({ ...change, version: { ...change.version, earlierSites: undefined } }, columnId, cell);
}

/** The cell after a write that adds to the earlier ones; `value` contains them all. */
export function accumulated(before: Cell | undefined, value: CellValue, version: WriteVersion): Cell {
  const otherSite = before === undefined || isOwn(version, before.version) ? before?.otherSite : before.version;
  return otherSite === undefined ? { value, version } : { value, version, otherSite };
}
