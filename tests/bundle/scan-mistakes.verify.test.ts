import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { MISTAKES } from '../../packages/client/sqlite/testing/scan-mistakes.mjs';

const FUZZ = fileURLToPath(new URL('../../packages/client/sqlite/testing/fuzz.mjs', import.meta.url));
const HANG_MS = 60 * 60_000;

// It fetches SQLite's source from the package registry, and needs a C compiler as `cc`.
it('the queries of scan.property.test.ts detect each mistake in the semantics of scans', { timeout: HANG_MS }, () => {
  const { stdout, stderr, error } = spawnSync(process.execPath, [FUZZ, 'scan', '--mistakes'], { encoding: 'utf8' });
  expect(error, stderr).toBeUndefined();
  expect(stdout.trim().split('\n'), stderr).toEqual(MISTAKES.map(({ name }) => `found: ${name}`));
});
