import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverFlags } from '../../testing/server-process.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const addressOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** Serves in the same process. Resolves when the server listens. */
const serving = (): string => `
  import { run } from ${addressOf('../cli.ts')};
  const { write } = process.stdout;
  await new Promise((resolve) => {
    process.stdout.write = (text) => (text.startsWith('listening on') && resolve(), true);
    void run(${JSON.stringify(serverFlags(temporaryFolder()))});
  });
  process.stdout.write = write;
`;

/**
 * Makes 1,000 buffers of 1 MB beside a heap of objects, 60 of them in use at a time. Prints how many full collections
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
  for (let i = 0; i < 1_000; i++) {
    buffers.push(new ArrayBuffer(2 ** 20));
    if (buffers.length > 60) buffers.shift();
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
  count(observer.takeRecords());
  process.stdout.write(collections + ' ' + objects.length, () => process.exit());
`;

function fullCollections(setUp: string): number {
  // As a file, because the threads of a server inherit the flags of a script in the command line.
  const file = join(temporaryFolder(), 'script.mjs');
  writeFileSync(file, script(setUp));
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return Number(stdout.split(' ')[0]);
}

it('buffers that come and go start no full collection after the flags are set, as in the process of a server', () => {
  const withFlags = fullCollections(
    `import { countBuffersAsHeap } from ${addressOf('./garbage-collection.ts')}; countBuffersAsHeap();`,
  );
  expect(withFlags).toBeLessThan(5);
  expect(fullCollections('')).toBeGreaterThan(2 * withFlags);
  expect(fullCollections(serving())).toBeLessThan(5);
});
