import type { CellValue } from '../change/cell-value.ts';
import type { Cell, RowChange } from './row-model.ts';
import { hasSeen, type Version } from './version.ts';

/** Whether the author of a change had seen everything that is in a cell. */
export function hasSeenCell(
  { baseOf, version: { site } }: RowChange,
  columnId: number,
  cell: Cell | undefined,
): boolean {
  if (cell === undefined) return true;
  const base = baseOf(columnId);
  return hasSeen(base, site, cell.version) && (cell.otherSite === undefined || hasSeen(base, site, cell.otherSite));
}

/** The cell after a write that adds to the earlier ones; `value` contains them all. */
export function accumulated(before: Cell | undefined, value: CellValue, version: Version): Cell {
  const otherSite = before === undefined || before.version.site === version.site ? before?.otherSite : before.version;
  return otherSite === undefined ? { value, version } : { value, version, otherSite };
}
