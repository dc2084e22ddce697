import type { Page } from 'playwright/test';

/**
 * Code that sets the clock of a page or a worker ahead. Chromium has no such setting, and Playwright's clock does not
 * reach workers. It stands before the code of every script; a second script of the same page finds it done.
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

/**
 * Code that holds the clock of a page until `moveClock`; its workers have the real one. For what depends on how much
 * time a person takes, such as two words that are one step of undo when they are typed in one go.
 */
export const heldClock = `if (globalThis.document !== undefined && globalThis.moveClock === undefined) {
  const RealDate = globalThis.Date;
  let nowMs = RealDate.now();
  globalThis.Date = class Date extends RealDate {
    static now() { return nowMs; }
    constructor(...given) { if (given.length === 0) super(nowMs); else super(...given); }
  };
  globalThis.moveClock = (ms) => void (nowMs += ms);
}
`;

/** Lets time pass on a page with a held clock. */
export async function moveClock(page: Page, ms: number): Promise<void> {
  await page.evaluate((passedMs) => (globalThis as unknown as { moveClock(ms: number): void }).moveClock(passedMs), ms);
}
