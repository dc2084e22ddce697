import { openChromium } from '../e2e/harness/chromium.ts';
import { makeFolder, removeFolder } from '../e2e/harness/folders.ts';
import { expect, test } from '../e2e/harness/test.ts';
import { openSlowLine } from './slow-line.ts';

// Not a test: reports how long a first visit over a slow line takes, with an empty cache. `playwright test --config
// apps/demo-budget/playwright.measure.config.ts first-load`

const LINE = { bitsPerSecond: 10_000_000, roundTripMs: 40 };
const VISITS = 5;

test('measures the first visit over 10 Mbit/s', async ({ server }) => {
  const usable: number[] = [];
  const painted: number[] = [];
  const bytes: number[] = [];
  for (let visit = 0; visit < VISITS; visit += 1) {
    const line = await openSlowLine(server.port, LINE);
    const profile = makeFolder('profile');
    const context = await openChromium(profile, { width: 1280, height: 900 });
    const page = context.pages()[0] ?? (await context.newPage());
    await page.goto(line.url, { waitUntil: 'commit' });
    // The button works only once the database is open.
    const start = page.getByRole('heading', { name: 'A budget that lives on your device' });
    await expect(start).toBeVisible();
    usable.push(await page.evaluate(() => performance.now()));
    const [firstPaintMs, receivedBytes] = await page.evaluate(() => [
      performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      performance
        .getEntriesByType('resource')
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    ]);
    painted.push(firstPaintMs ?? Number.NaN);
    bytes.push(receivedBytes ?? Number.NaN);
    await context.close();
    await line.close();
    removeFolder(profile);
  }
  const median = (values: readonly number[]): string =>
    (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN).toFixed(0);
  console.log(
    `first paint ${median(painted)} ms, usable ${median(usable)} ms (${usable.map((ms) => ms.toFixed(0)).join(', ')}), page's own files ${median(bytes)} bytes`,
  );
});
