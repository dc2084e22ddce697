import type { Page } from 'playwright/test';
import { setInWorker } from './set-in-worker.ts';

const channelName = 'shifted-clock';

/**
 * Returns a script that sets the clock of a page and its worker ahead, at first by `aheadMs`, and later by `passTime`.
 * Chromium has no such setting, and Playwright's clock does not reach workers. The code is prepended to every script; a
 * second script in the same page finds it already installed.
 */
export function shiftedClock(aheadMs: number): string {
  return `if (!globalThis.Date.shifted) {
  const RealDate = globalThis.Date;
  let aheadMs = ${aheadMs};
  globalThis.Date = class Date extends RealDate {
    static shifted = true;
    static now() { return RealDate.now() + aheadMs; }
    constructor(...given) { if (given.length === 0) super(RealDate.now() + aheadMs); else super(...given); }
  };
  globalThis.passTime = (ms) => void (aheadMs += ms);
  if (globalThis.FileSystemSyncAccessHandle !== undefined) {
    const channel = new BroadcastChannel('${channelName}');
    channel.onmessage = ({ data }) => {
      if (data.set === undefined) return;
      globalThis.passTime(data.set);
      channel.postMessage({ done: data.set });
    };
  }
}
`;
}

/** Sets the clock of a page and its worker further ahead, as if the device had slept for that long. */
export async function passTime(page: Page, ms: number): Promise<void> {
  await page.evaluate((passedMs) => (globalThis as unknown as { passTime(ms: number): void }).passTime(passedMs), ms);
  await setInWorker(page, channelName, ms);
}

/**
 * Returns a script that stops the clock of a page until `moveClock`; its workers keep the real clock. For behaviour
 * that depends on typing speed, such as two words that form one undo step when typed without a pause.
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

/** Advances the stopped clock of a page. */
export async function moveClock(page: Page, ms: number): Promise<void> {
  await page.evaluate((passedMs) => (globalThis as unknown as { moveClock(ms: number): void }).moveClock(passedMs), ms);
}
