import { defineConfig } from 'playwright/test';
import { levelOfThisRun } from '../../scripts/tests/level.mjs';
import { specsOf } from './e2e/harness/level.ts';

/** A state that is not reached within this time will not be reached, even on a busy machine. */
const WAIT_MS = 2 * 60_000;

export default defineConfig({
  testDir: 'e2e',
  ...specsOf(levelOfThisRun()),
  outputDir: '../../.rockpool/e2e',
  globalSetup: './e2e/harness/build-demo.ts',
  // Node strips the types itself. Babel would transform every spec and all that it imports in each run.
  build: { external: ['**'] },
  // Three at a time, because a test often waits for its browser and its server.
  workers: 3,
  // A test that passes only on retry may hide a lost write.
  retries: 0,
  forbidOnly: true,
  // Only a hang may reach this limit; a busy machine must not fail a test.
  timeout: 15 * 60_000,
  // How long to wait for a state, an action or a page. No test asserts a duration.
  expect: { timeout: WAIT_MS },
  use: { actionTimeout: WAIT_MS, navigationTimeout: WAIT_MS },
  reporter:
    process.env['ROCKPOOL_REPORT'] === undefined
      ? [['list']]
      : [['list'], ['../../scripts/tests/playwright-reporter.mjs']],
});
