// Runs Vitest's tests in a browser that these scripts drive, because Playwright ships its own builds and these tests
// need the stock ones.

import { playwright } from '@vitest/browser-playwright';

/**
 * @param {'firefox' | 'webkit'} name
 * @param {() => Promise<import('./firefox.mjs').DrivenBrowser>} start
 * @returns {import('vitest/node').BrowserProviderOption}
 */
export function stockBrowser(name, start) {
  // The tests are served the same way for every provider; only the program that opens the page differs.
  const { prewarm: _, ...provider } = playwright();
  return {
    ...provider,
    name: 'stock',
    supportedBrowser: [name],
    providerFactory: (project) => {
      // Vitest sets a size before each file, but no test depends on the size of the page.
      project.browser?.registerCommand(
        /** @type {never} */ ('__vitest_viewport'),
        /** @type {never} */ (async () => undefined),
      );
      /** @type {ReturnType<typeof start> | undefined} */
      let starting;
      return {
        name: 'stock',
        supportsParallelism: false,
        getCommandsContext: () => ({}),
        async openPage(_sessionId, url) {
          starting ??= start();
          await (await starting).openPage(url);
        },
        async close() {
          await (await starting?.catch(() => undefined))?.close();
          starting = undefined;
        },
      };
    },
  };
}
