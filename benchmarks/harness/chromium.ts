import { chromium } from 'playwright';
import { benchTab, type BenchBrowser } from './browser.ts';

/**
 * Chromium with a profile on disk. An incognito context would keep its storage in memory and measure something else.
 */
export async function launchChromium(profile: string): Promise<BenchBrowser> {
  const executablePath = process.env['ROCKPOOL_CHROMIUM'];
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath === undefined ? {} : { executablePath }),
    headless: true,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
  });
  return {
    async openTab(url) {
      const page = await context.newPage();
      page.on('pageerror', (error) => console.error(`  on ${new URL(url).hostname}: ${error.message}`));
      await page.goto(url);
      await page.waitForFunction(() => window.bench !== undefined);
      const call = (name: string, args: readonly unknown[]): Promise<unknown> =>
        page.evaluate(
          ([method, rest]) =>
            (window.bench as unknown as Record<string, (...a: readonly unknown[]) => unknown>)[method]?.(...rest),
          [name, args] as const,
        );
      return benchTab(call, () => page.close());
    },
    close: () => context.close(),
  };
}
