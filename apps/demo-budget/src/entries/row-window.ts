/** The rows of a long table that are rendered: `count` rows from position `first`. */
export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/**
 * The window moves in steps of this many rows, so that scrolling rarely requests new rows. The number is small, because
 * each row costs the browser about 1 ms.
 */
const step = 10;

/**
 * The visible rows, with one step before and after them. Heights in CSS pixels; `scrolled` is the distance of the first
 * row above the top of the view.
 */
export function rowWindow({
  scrolled,
  viewHeight,
  rowHeight,
}: {
  readonly scrolled: number;
  readonly viewHeight: number;
  readonly rowHeight: number;
}): RowWindow {
  const firstInView = Math.max(0, Math.floor(scrolled / rowHeight));
  const lastInView = firstInView + Math.ceil(viewHeight / rowHeight);
  const first = Math.max(0, Math.floor(firstInView / step) - 1) * step;
  return { first, count: (Math.floor(lastInView / step) + 2) * step - first };
}
