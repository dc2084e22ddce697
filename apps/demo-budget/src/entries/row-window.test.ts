import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowWindow } from './row-window.ts';

it('the window contains all visible rows at any scroll position, and rarely moves', () => {
  const px = fc.integer({ min: -2_000, max: 6_000_000 });
  fc.assert(
    fc.property(
      px,
      fc.integer({ min: 100, max: 4_000 }),
      fc.constantFrom(52, 88),
      (scrolled, viewHeight, rowHeight) => {
        const { first, count } = rowWindow({ scrolled, viewHeight, rowHeight });
        const top = Math.max(0, scrolled);
        expect(first * rowHeight).toBeLessThanOrEqual(top);
        expect((first + count) * rowHeight).toBeGreaterThanOrEqual(top + viewHeight);
        expect([first % 10, count % 10]).toEqual([0, 0]);
        // At most two steps of rows beyond each edge of the view.
        expect(count * rowHeight).toBeLessThanOrEqual(viewHeight + 4.1 * 10 * rowHeight);
      },
    ),
  );
});
