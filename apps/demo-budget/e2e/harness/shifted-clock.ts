/**
 * Code that sets the clock of a page or a worker ahead. Chromium has no such setting, and Playwright's clock does not reach workers.
 * It stands before the code of every script; a second script of the same page finds it done.
 */
export function shiftedClock(aheadMs: number): string {
  return `if (!globalThis.Date.shifted) {
  const RealDate = globalThis.Date;
  globalThis.Date = class Date extends RealDate {
    static shifted = true;
    static now() { return RealDate.now() + ${aheadMs}; }
    constructor(...given) { if (given.length === 0) super(RealDate.now() + ${aheadMs}); else super(...given); }
  };
}
`;
}
