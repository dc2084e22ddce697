import { useEffect, type RefObject } from 'react';

/** Keeps a CSS variable of the page equal to the height of an element, for content that is placed below it. */
export function useHeightVariable(element: RefObject<HTMLElement | null>, variable: `--${string}`): void {
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty(variable, `${current.offsetHeight}px`));
    observer.observe(current);
    return () => {
      observer.disconnect();
      style.removeProperty(variable);
    };
  }, [element, variable]);
}
