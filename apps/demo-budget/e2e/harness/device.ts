import type { BrowserContext, CDPSession, Page } from 'playwright/test';
import { TOAST_MS } from '../../src/shell/toast-time.ts';
import { isThorough } from './level.ts';

/**
 * One user's browser as the app sees it, with its own storage, locks, service worker and tabs. Each device is an origin
 * in a Chromium that the tests of a worker share, because starting Chromium with a new profile takes longer than most
 * tests.
 */
export interface Device {
  /** Opens a tab on about:blank. */
  newTab(): Promise<Page>;
  /** Sets whether all tabs, open now or later, have a network. Only a device that keeps the app's files loses it. */
  setOffline(offline: boolean): Promise<void>;
  /** What pages and workers wrote to the console, for the report of a failed test. */
  readonly console: readonly string[];
  /** Closes all tabs. */
  close(): Promise<void>;
}

export interface DeviceOptions {
  /** Address of the gateway that only this device uses; its port makes the origin. */
  readonly url: string;
  readonly viewport: { readonly width: number; readonly height: number };
  /**
   * Whether the app's service worker may keep the app's files. From `npm run verify` on, every device keeps them, as
   * those of users do. It costs two thirds of a second of processor time, a fifth of a short test.
   */
  readonly keepsAppFiles: boolean;
}

export function newDevice(chromium: BrowserContext, { url, viewport, keepsAppFiles }: DeviceOptions): Device {
  const tabs = new Map<Page, CDPSession>();
  const said: string[] = [];
  let isOffline = false;
  let isEmpty = false;

  return {
    console: said,
    async newTab() {
      const page = await chromium.newPage();
      page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => said.push(`uncaught: ${String(error)}`));
      page.once('close', () => tabs.delete(page));
      await page.setViewportSize(viewport);
      await page.addInitScript(keepToasts, TOAST_MS);
      if (!keepsAppFiles && !isThorough) await page.addInitScript(registerNoServiceWorker);
      const devtools = await chromium.newCDPSession(page);
      tabs.set(page, devtools);
      if (!isEmpty) await clearStorage(devtools, url);
      isEmpty = true;
      if (isOffline) await emulateNetwork(devtools, isOffline);
      return page;
    },
    async setOffline(offline) {
      // Parts that the app has not loaded yet would be missing, or not, depending on earlier tests.
      if (offline && !keepsAppFiles) throw new Error('Only a person with keepsAppFiles can go offline');
      isOffline = offline;
      await Promise.all([...tabs.values()].map((devtools) => emulateNetwork(devtools, offline)));
    },
    async close() {
      // A test may have opened tabs that are not in `tabs`, for example by clicking a link.
      const others = chromium.pages().filter((page) => page.url().startsWith(url));
      await Promise.all([...new Set([...tabs.keys(), ...others])].map((page) => page.close()));
    },
  };
}

/** Keeps toasts open, because a test on a busy machine may need longer than a user to find a toast's button. */
function keepToasts(toastMs: number): void {
  const setRealTimeout = globalThis.setTimeout;
  globalThis.setTimeout = ((run: () => void, ms?: number, ...given: unknown[]) =>
    ms === toastMs ? 0 : setRealTimeout(run, ms, ...given)) as typeof setTimeout;
}

/** Leaves the app as it is before its service worker is registered, which nothing waits for. */
function registerNoServiceWorker(): void {
  // Blank pages have no service workers.
  if ('serviceWorker' in navigator) navigator.serviceWorker.register = async () => await new Promise(() => {});
}

/** Sets the network of one tab: Playwright's own setting applies to all tabs of a browser. */
async function emulateNetwork(devtools: CDPSession, offline: boolean): Promise<void> {
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}

/** Deletes what an earlier test's device stored for this origin, including its service worker. */
async function clearStorage(devtools: CDPSession, url: string): Promise<void> {
  await devtools.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
}
