import { expect, it } from 'vitest';

it.each([
  ['the bundle of a worker', '/packages/vfs-opfs/testing/tab.worker.ts?worker_file&type=module', 'text/javascript'],
  ["SQLite's build", '/packages/client/sqlite/wa-sqlite.wasm', 'application/wasm'],
])('Chromium takes %s from its cache after the first request', async (_what, path, type) => {
  for (const isFirst of [true, false]) {
    const response = await fetch(path);
    expect(response.headers.get('content-type')).toBe(type);
    const sizeBytes = (await response.arrayBuffer()).byteLength;
    expect(sizeBytes).toBeGreaterThan(100_000);
    // A revalidated copy counts the bytes of its headers.
    const transferred = performance.getEntriesByName(response.url).at(-1) as PerformanceResourceTiming;
    if (!isFirst) expect(transferred.transferSize).toBe(0);
  }
});

it('Chromium takes the modules of a test from its cache in later test files', async () => {
  const path = '/tests/kit/until.ts';
  await transferredBytes(path);
  expect(await transferredBytes(path)).toBe(0);
});

/** Loads a module in a page of its own, as each test file does. */
async function transferredBytes(path: string): Promise<number> {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  const { document: page, performance } = frame.contentWindow as Window;
  const script = page.createElement('script');
  script.type = 'module';
  script.src = new URL(path, location.href).href;
  const loaded = new Promise((resolve, reject) => {
    script.addEventListener('load', resolve);
    script.addEventListener('error', reject);
  });
  page.head.append(script);
  await loaded;
  const [transferred] = performance.getEntriesByName(script.src) as PerformanceResourceTiming[];
  frame.remove();
  return (transferred as PerformanceResourceTiming).transferSize;
}
