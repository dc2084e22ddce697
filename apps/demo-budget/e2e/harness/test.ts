import { test as base, type BrowserContext, type Page } from 'playwright/test';
import { openAddresses, type Addresses } from './addresses.ts';
import { openChromium } from './chromium.ts';
import { createDemoServer, type DemoServer } from './demo-server.ts';
import { newDevice, type Device } from './device.ts';
import { makeFolder, removeFolder } from './folders.ts';
import { openGateway, type Gateway } from './gateway.ts';
import { shiftedClock } from './shifted-clock.ts';
import { slowMs } from './slow-messages.ts';

/** A user with a device and a network that can be cut. */
export interface Person {
  readonly page: Page;
  /** Opens another tab of this user's browser, on about:blank. */
  newTab(): Promise<Page>;
  readonly gateway: Gateway;
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

export interface PersonOptions {
  /** The share link this user opens. Without one, the app creates a new budget. */
  readonly link?: string;
  /** How far this user's clock is ahead of the others' clocks. `passTime` sets it further ahead if this is given. */
  readonly clockAheadMs?: number;
  /** Code prepended to every script, such as a script from storage-faults.ts. */
  readonly scriptPrefix?: string;
  /** Whether this user's first download of the budget stops halfway until `gateway.releaseSnapshots`. */
  readonly holdsSnapshots?: boolean;
  /** Whether the browser starts without any of the app's files in its cache. */
  readonly isFirstVisit?: boolean;
  /** Whether the app's service worker keeps the app's files, so that this user can go offline. */
  readonly keepsAppFiles?: boolean;
  /** The size of the window. The narrowest phones in use are 360 px wide. */
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface Fixtures {
  /** The real server, running. Tests share it unless they set `hasOwnServer`. */
  readonly server: DemoServer;
  /** Whether the test may stop its server. Starting one takes as long as a short test. */
  readonly hasOwnServer: boolean;
  readonly newPerson: (options?: PersonOptions) => Promise<Person>;
}

export interface WorkerFixtures {
  readonly sharedServer: DemoServer;
  /** A browser with its profile on disk, shared by the tests of a worker. */
  readonly chromium: BrowserContext;
  readonly addresses: Addresses;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  chromium: [
    // Playwright reads a fixture's dependencies from this pattern and requires a pattern even without dependencies.
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const profile = makeFolder('profile');
      const chromium = await openChromium(profile);
      await use(chromium);
      await chromium.close();
      removeFolder(profile);
    },
    { scope: 'worker' },
  ],

  addresses: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const addresses = openAddresses();
      await use(addresses);
      addresses.close();
    },
    { scope: 'worker' },
  ],

  hasOwnServer: [false, { option: true }],

  sharedServer: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const dataFolder = makeFolder('data');
      const server = await createDemoServer(dataFolder);
      await server.start();
      const stop = (): never => {
        throw new Error(
          'This test cannot control a server that it shares; test.use({ hasOwnServer: true }) gives it its own',
        );
      };
      await use({ ...server, start: stop, kill: stop });
      await server.kill('SIGTERM');
      removeFolder(dataFolder);
    },
    { scope: 'worker' },
  ],

  server: async ({ hasOwnServer, sharedServer }, use, testInfo) => {
    const dataFolder = hasOwnServer ? makeFolder('data') : undefined;
    const server = dataFolder === undefined ? sharedServer : await createDemoServer(dataFolder);
    if (hasOwnServer) await server.start();
    const before = server.output().length;
    await use(server);
    if (hasOwnServer) await server.kill('SIGTERM');
    if (testInfo.status !== testInfo.expectedStatus)
      await testInfo.attach('server', { body: server.output().slice(before), contentType: 'text/plain' });
    if (dataFolder !== undefined) removeFolder(dataFolder);
  },

  newPerson: async ({ addresses, chromium, server }, use, testInfo) => {
    const present: { readonly device: Device; readonly gateway: Gateway }[] = [];
    await use(async (options = {}) => {
      const {
        link,
        clockAheadMs,
        scriptPrefix = clockAheadMs === undefined ? undefined : shiftedClock(clockAheadMs),
        holdsSnapshots = false,
        isFirstVisit = false,
        keepsAppFiles = isFirstVisit,
        viewport = { width: 1280, height: 900 },
      } = options;
      // Scripts with a prefix have the same URLs as those without, and the browser would cache them for later tests.
      const isCached = scriptPrefix === undefined && slowMs === 0 && !isFirstVisit;
      const gateway = await openGateway({
        serverPort: server.port,
        at: isCached ? await addresses.ofPerson(present.length) : await addresses.another(),
        ...(scriptPrefix === undefined ? {} : { scriptPrefix }),
        holdsSnapshots,
      });
      const device = newDevice(chromium, { url: gateway.url, viewport, keepsAppFiles });
      present.push({ device, gateway });
      const page = await device.newTab();
      await page.goto(link === undefined ? gateway.url : throughGateway(link, gateway));
      return {
        page,
        newTab: device.newTab,
        gateway,
        async goOffline() {
          gateway.cut();
          await device.setOffline(true); // so that the page knows it is offline
        },
        async goOnline() {
          gateway.restore();
          await device.setOffline(false);
        },
      };
    });
    for (const [index, { device, gateway }] of present.entries()) {
      if (testInfo.status !== testInfo.expectedStatus)
        await testInfo.attach(`console of person ${index + 1}`, {
          body: device.console.join('\n'),
          contentType: 'text/plain',
        });
      await device.close();
      await gateway.close();
    }
  },
});

export { expect } from 'playwright/test';

/**
 * Each user reaches the one server through a separate gateway, so a link opens the same budget at a different address.
 */
export function throughGateway(link: string, gateway: Gateway): string {
  return gateway.url + new URL(link).hash;
}
