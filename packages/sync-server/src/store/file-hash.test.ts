import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/test-server.ts';
import { fileHash } from './file-hash.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());

it('hashes a file that does not fit into one buffer, in little memory', { timeout: 120_000 }, async () => {
  const path = join(folder.path, 'large');
  writeFileSync(path, 'rockpool');
  expect(await fileHash(path)).toMatch(/^[0-9a-f]{64}$/);
  // Sparse: it takes no space.
  truncateSync(path, 2 * 1024 ** 3 + 4096);
  const before = process.memoryUsage().rss;
  expect(await fileHash(path)).toMatch(/^[0-9a-f]{64}$/);
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 ** 2);
});
