import type { Page } from 'playwright/test';
import { setInWorker } from './set-in-worker.ts';

const channelName = 'worker-clock';

/**
 * A script that lets a test change the speed of the clock in a page's workers, where the deadlines of sync run: half a
 * minute is too long for a test. Everything before the change, such as opening the budget, has the time that it has for
 * a user. The page's own clock keeps its real speed, because the page's time limits for its worker must allow for a
 * slow machine. The code is prepended to every script; a second script in the same worker finds it already installed.
 */
export const workerClock = `if (globalThis.FileSystemSyncAccessHandle !== undefined && globalThis.clockSpeed === undefined) {
  globalThis.clockSpeed = 1;
  const { setTimeout, clearTimeout } = globalThis;
  const realNow = performance.now.bind(performance);
  let setAtRealMs = realNow();
  let setAtMs = setAtRealMs;
  const now = () => setAtMs + (realNow() - setAtRealMs) * globalThis.clockSpeed;
  performance.now = now;
  const timers = new Map();
  let lastId = 0;
  const start = (id, timer) => {
    const ring = () => {
      timers.delete(id);
      timer.callback(...timer.given);
    };
    timer.realId = setTimeout(ring, (timer.dueMs - now()) / globalThis.clockSpeed);
  };
  globalThis.setTimeout = (callback, delayMs = 0, ...given) => {
    const id = ++lastId;
    const timer = { callback, given, dueMs: now() + Number(delayMs) };
    timers.set(id, timer);
    start(id, timer);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    clearTimeout(timers.get(id)?.realId);
    timers.delete(id);
  };
  const channel = new BroadcastChannel('${channelName}');
  channel.onmessage = ({ data }) => {
    if (data.set === undefined) return;
    [setAtMs, setAtRealMs] = [now(), realNow()];
    globalThis.clockSpeed = data.set;
    for (const [id, timer] of timers) {
      clearTimeout(timer.realId);
      start(id, timer);
    }
    channel.postMessage({ done: data.set });
  };
}
`;

/** Lets time pass this many times as fast as real time in the worker of a page. */
export async function setClockSpeed(page: Page, times: number): Promise<void> {
  await setInWorker(page, channelName, times);
}
