import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = JSON.stringify(new URL('./garbage-collection.ts', import.meta.url).href);

/**
 * Makes 3,000 buffers of 1 MB beside a heap of objects, 60 of them in use at a time. Prints how many full collections
 * that took.
 */
const script = (setUp: string): string => `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  ${setUp}
  let collections = 0;
  const count = (entries) => {
    for (const { detail } of entries) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++;
  };
  const observer = new PerformanceObserver((list) => count(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const objects = Array.from({ length: 200_000 }, (_, i) => ({ i, text: 'object ' + i }));
  const buffers = [];
  for (let i = 0; i < 3_000; i++) {
    buffers.push(new ArrayBuffer(2 ** 20));
    if (buffers.length > 60) buffers.shift();
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
  count(observer.takeRecords());
  process.stdout.write(collections + ' ' + objects.length);
`;

function fullCollections(setUp: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script(setUp)], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return Number(stdout.split(' ')[0]);
}

it('buffers that come and go start no full collection after the flags are set', () => {
  const withFlags = fullCollections(`import { countBuffersAsHeap } from ${MODULE}; countBuffersAsHeap();`);
  expect(withFlags).toBeLessThan(5);
  expect(fullCollections('')).toBeGreaterThan(2 * withFlags);
});
