import { test as base, type BrowserContext, type Page } from 'playwright/test';
import { openChromium } from './chromium.ts';
import { createDemoServer, type DemoServer } from './demo-server.ts';
import { makeFolder, removeFolder } from './folders.ts';
import { openGateway, type Gateway } from './gateway.ts';
import { shiftedClock } from './shifted-clock.ts';

/** A user with their own browser, a profile on disk, and a network that can be cut. */
export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly gateway: Gateway;
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

export interface PersonOptions {
  /** The share link this user opens. Without one, the app creates a new budget. */
  readonly link?: string;
  /** How far this user's clock is ahead of the others' clocks. */
  readonly clockAheadMs?: number;
  /** Code prepended to every script, such as a script from storage-faults.ts. */
  readonly scriptPrefix?: string;
  /** The narrowest phones in use are 360 px wide. */
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface Fixtures {
  /** The real server, running, with an empty data folder. */
  readonly server: DemoServer;
  readonly newPerson: (options?: PersonOptions) => Promise<Person>;
}

export const test = base.extend<Fixtures>({
  // Playwright reads a fixture's dependencies from this pattern and requires a pattern even without dependencies.
  // oxlint-disable-next-line no-empty-pattern
  server: async ({}, use, testInfo) => {
    const dataFolder = makeFolder('data');
    const server = await createDemoServer(dataFolder);
    await server.start();
    await use(server);
    await server.kill('SIGTERM');
    if (testInfo.status !== testInfo.expectedStatus)
      await testInfo.attach('server', { body: server.output(), contentType: 'text/plain' });
    removeFolder(dataFolder);
  },

  newPerson: async ({ server }, use, testInfo) => {
    const leaveAll: (() => Promise<void>)[] = [];
    await use(async (options = {}) => {
      const {
        link,
        clockAheadMs,
        scriptPrefix = clockAheadMs === undefined ? undefined : shiftedClock(clockAheadMs),
        viewport = { width: 1280, height: 900 },
      } = options;
      const gateway = await openGateway({
        serverPort: server.port,
        ...(scriptPrefix === undefined ? {} : { scriptPrefix }),
      });
      const profile = makeFolder('profile');
      const context = await openChromium(profile, viewport);
      const page = context.pages()[0] ?? (await context.newPage());
      const said = collectConsole(context);
      leaveAll.push(async () => {
        if (testInfo.status !== testInfo.expectedStatus)
          await testInfo.attach(`console of person ${leaveAll.length}`, {
            body: said.join('\n'),
            contentType: 'text/plain',
          });
        await context.close();
        await gateway.close();
        removeFolder(profile);
      });
      await page.goto(link === undefined ? gateway.url : throughGateway(link, gateway));
      return {
        context,
        page,
        gateway,
        async goOffline() {
          gateway.cut();
          await context.setOffline(true); // so that the page knows it is offline
        },
        async goOnline() {
          gateway.restore();
          await context.setOffline(false);
        },
      };
    });
    for (const leave of leaveAll.reverse()) await leave();
  },
});

export { expect } from 'playwright/test';

/**
 * Each user reaches the one server through their own gateway, so a link opens the same budget at a different address.
 */
export function throughGateway(link: string, gateway: Gateway): string {
  return gateway.url + new URL(link).hash;
}

/** Console output of pages and workers, for the report of a failed test. */
function collectConsole(context: BrowserContext): string[] {
  const said: string[] = [];
  context.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  context.on('weberror', (error) => said.push(`uncaught: ${String(error.error())}`));
  return said;
}
