import { openChromium } from './harness/chromium.ts';
import { makeFolder, removeFolder } from './harness/folders.ts';
import { expect, test } from './harness/test.ts';

test('a complete browser finds nothing that keeps it from installing the app', async ({ server }) => {
  const profile = makeFolder('profile');
  const context = await openChromium(profile, { width: 1280, height: 900 }, 'complete');
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const obstacles = async (): Promise<string[]> =>
      (await devtools.send('Page.getInstallabilityErrors')).installabilityErrors.map(({ errorId }) => errorId);
    // A headless shell finds nothing in any page.
    expect(await obstacles()).not.toEqual([]);
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    expect(await obstacles()).toEqual([]);
  } finally {
    await context.close();
    removeFolder(profile);
  }
});
