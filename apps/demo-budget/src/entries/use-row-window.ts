import { useEffect, useState, type RefObject } from 'react';
import { rowWindow, type RowWindow } from './row-window.ts';

/** As in entries.css. */
const narrow = '(max-width: 46rem)';
const rowHeightPx = { wide: 40, narrow: 108 } as const;

/** The rows of a table to render at the current scroll position, and the row height. */
export function useRowWindow(table: RefObject<HTMLElement | null>): RowWindow & { readonly rowHeight: number } {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(narrow).matches);
  const rowHeight = isNarrow ? rowHeightPx.narrow : rowHeightPx.wide;
  const [shown, setShown] = useState<RowWindow>(() => rowWindow({ scrolled: 0, viewHeight: innerHeight, rowHeight }));

  useEffect(() => {
    const media = matchMedia(narrow);
    const follow = (): void => {
      setIsNarrow(media.matches);
      const next = rowWindow({
        scrolled: -(table.current?.getBoundingClientRect().top ?? 0),
        viewHeight: innerHeight,
        rowHeight: media.matches ? rowHeightPx.narrow : rowHeightPx.wide,
      });
      setShown((last) => (last.first === next.first && last.count === next.count ? last : next));
    };
    follow();
    addEventListener('scroll', follow, { passive: true });
    addEventListener('resize', follow);
    return () => {
      removeEventListener('scroll', follow);
      removeEventListener('resize', follow);
    };
  }, [table]);
  return { ...shown, rowHeight };
}
