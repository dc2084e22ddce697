/** The rows of a long table that are kept in the page: `count` from the `first` one on. */
export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/**
 * The window moves in steps of so many rows, so that scrolling asks for other rows seldom. Each row costs the browser
 * about 1 ms, so a search shows few of them at first.
 */
const step = 20;

/**
 * The rows in view, with a step before and after them. Heights in CSS pixels; `scrolled` is how far the first row is
 * above the view's top.
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
