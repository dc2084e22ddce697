import { chromium, type BrowserContext, type Page } from 'playwright';
import type { BenchPage } from '../page/page.ts';

/** Chromium with a profile on disk: in an incognito context its storage would lie in memory and be something else. */
export async function launchChromium(profile: string): Promise<BrowserContext> {
  const executablePath = process.env['ROCKPOOL_CHROMIUM'];
  return chromium.launchPersistentContext(profile, {
    ...(executablePath === undefined ? {} : { executablePath }),
    headless: true,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
  });
}

type Asynchronous<T> = { readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Promise<R> : never };

/** One page, and its functions as if they were here. */
export interface BenchTab {
  readonly bench: Asynchronous<BenchPage>;
  close(): Promise<void>;
}

/** `timeoutMs` bounds each call. */
export async function openTab(context: BrowserContext, url: string, timeoutMs: number): Promise<BenchTab> {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`  on ${new URL(url).hostname}: ${error.message}`));
  await page.goto(url);
  await page.waitForFunction(() => window.bench !== undefined);
  const bench = new Proxy({} as Asynchronous<BenchPage>, {
    get:
      (_target, name: string) =>
      (...args: unknown[]) =>
        within(timeoutMs, name, callOnPage(page, name, args)),
  });
  return { bench, close: () => page.close() };
}

function callOnPage(page: Page, name: string, args: unknown[]): Promise<unknown> {
  return page.evaluate(([method, rest]) => (window.bench as unknown as Record<string, (...a: unknown[]) => unknown>)[method]?.(...rest), [name, args] as const);
}

async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
