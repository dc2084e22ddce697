import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { fileHash } from './file-hash.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
beforeEach(() => (folder = temporaryFolder()));

it('the hash of a file that does not fit into one buffer is computed with little memory', async () => {
  const path = join(folder, 'large');
  writeFileSync(path, 'rockpool');
  expect(await fileHash(path)).toMatch(/^[0-9a-f]{64}$/);
  // The file is sparse and takes no space.
  truncateSync(path, 2 * 1024 ** 3 + 4096);
  const before = process.memoryUsage().rss;
  expect(await fileHash(path)).toMatch(/^[0-9a-f]{64}$/);
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 ** 2);
});
