import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config';
import type { BrowserMedium } from './packages/vfs-opfs/testing/browser-media.ts';
import { startFirefox } from './scripts/browsers/firefox.mjs';
import { findStockBrowsers } from './scripts/browsers/find-stock-browsers.mjs';
import { stockBrowser } from './scripts/browsers/stock-browser-provider.mjs';
import { startWebKit } from './scripts/browsers/webkit.mjs';
import { commands, hangLimits, level, nodeSetup, optimizeDeps, seed } from './vitest.config.ts';

// `npm run test:browsers`: the contracts of storage and client in browsers other than Chromium, in their stock builds,
// not Playwright's.

const { firefox, webkit } = findStockBrowsers();

/** What a project expects of its browser, and how the browser starts. */
interface StockProject {
  readonly name: string;
  readonly usableMedia: readonly BrowserMedium[];
  readonly refusal: 'storage-unsupported' | 'storage-ephemeral';
  readonly provider: ReturnType<typeof stockBrowser>;
}

function project({ name, usableMedia, refusal, provider }: StockProject): TestProjectInlineConfiguration {
  return {
    optimizeDeps,
    test: {
      name,
      include: ['packages/vfs-opfs/src/media/media.browser.test.ts', 'packages/client/src/media.browser.test.ts'],
      provide: { level, seed, usableMedia, refusal },
      fileParallelism: false,
      testTimeout: 120_000,
      ...hangLimits,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        // Loading the page takes a while on a busy machine.
        connectTimeout: 180_000,
        provider,
        commands,
        instances: [{ browser: name === 'webkit' ? 'webkit' : 'firefox' }],
      },
    },
  };
}

const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      project({
        name: 'firefox',
        usableMedia: ['opfs-exclusive', 'indexeddb'],
        refusal: 'storage-unsupported',
        provider: stockBrowser('firefox', () => startFirefox(firefox)),
      }),
      project({
        name: 'firefox-private',
        usableMedia: [],
        refusal: 'storage-ephemeral',
        provider: stockBrowser('firefox', () =>
          startFirefox(firefox, { preferences: { 'browser.privatebrowsing.autostart': true } }),
        ),
      }),
      project({
        name: 'webkit',
        usableMedia: ['indexeddb'],
        refusal: 'storage-unsupported',
        provider: stockBrowser('webkit', () => startWebKit(webkit)),
      }),
      {
        test: {
          name: 'firefox-killed',
          environment: 'node',
          provide: { level, seed },
          setupFiles: nodeSetup,
          include: ['tests/kills/*.stock.test.ts'],
          testTimeout: 30 * 60_000,
          ...hangLimits,
        },
      },
    ],
  },
});

export default config;
