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
