import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { startDemoServer, type DemoServer } from '../server/demo-server.ts';
import { openChromium } from './harness/chromium.ts';
import { makeFolder, removeFolder } from './harness/folders.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry, fillEntryForm, ledgerRow } from './steps/entries.ts';

/** What a browser needs to install an app. `install.verify.spec.ts` has its verdict. */
interface Manifest {
  readonly name: string;
  readonly start_url: string;
  readonly display: string;
  readonly icons: readonly { readonly src: string; readonly sizes: string; readonly type: string }[];
}

const built = fileURLToPath(new URL('../dist', import.meta.url));

test('the manifest and its icons arrive; a newer version is offered, does not interrupt the user, and starts when accepted', async () => {
  const [dataFolder, distFolder, profile] = [makeFolder('data'), makeFolder('dist'), makeFolder('profile')];
  cpSync(built, distFolder, { recursive: true });
  const start = (port: number): Promise<DemoServer> =>
    startDemoServer({ distFolder, dataFolder, host: '127.0.0.1', port });
  let server = await start(0);
  const context = await openChromium(profile, { width: 1280, height: 900 });
  try {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    const devtools = await context.newCDPSession(page);
    const { errors, data = '' } = await devtools.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const { name, start_url, display, icons } = JSON.parse(data) as Manifest;
    expect([name, start_url, display]).toEqual([expect.any(String), expect.any(String), 'standalone']);
    for (const size of ['192x192', '512x512']) expect(icons.map(({ sizes }) => sizes)).toContain(size);
    for (const { src, type } of [...icons, { src: '/apple-touch-icon.png', type: 'image/png' }])
      expect((await page.request.get(`http://127.0.0.1:${server.port}${src}`)).headers()['content-type']).toBe(type);
    await addAccount(page, { name: 'Household', currency: 'EUR' });

    // A version with one renamed file, as any source change produces.
    const worker = join(distFolder, 'service-worker.js');
    writeFileSync(worker, readFileSync(worker, 'utf8').replace(/\b[0-9a-f]{16}\b/g, 'f'.repeat(16)));
    const { port } = server;
    await server.stop();
    server = await start(port);
    await page.reload();
    const offer = page.getByText('A new version of the app is ready.');
    await expect(offer).toBeVisible();

    await page.getByRole('button', { name: 'New entry' }).click();
    const form = page.getByRole('form', { name: 'New entry' });
    await fillEntryForm(form, { payee: 'In the middle', amount: '1' });
    await expect(offer).toBeVisible();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await addEntry(page, { payee: 'Market', amount: '20' });
    // The offer disappears, and the old page can still be seen, before the new version reloads the page.
    const reloaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Update now' }).click();
    await reloaded;
    await expect(offer).toBeHidden();
    await expect(ledgerRow(page, 'Market')).toBeVisible();
    expect(await page.evaluate(async () => await caches.keys())).toEqual([`app-${'f'.repeat(16)}`]);
  } finally {
    await context.close();
    await server.stop();
    for (const folder of [dataFolder, distFolder, profile]) removeFolder(folder);
  }
});
