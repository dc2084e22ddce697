import { defineConfig } from 'playwright/test';

export default defineConfig({
  testDir: 'e2e',
  outputDir: '../../.rockpool/e2e',
  globalSetup: './e2e/harness/build-demo.ts',
  // Every spec starts servers and browsers of its own, and waits for them much of its time.
  workers: 2,
  // A test that needs a second try hides a lost write.
  retries: 0,
  forbidOnly: true,
  // Only a hang should end a test: a machine busy with something else is no reason to be red.
  timeout: 300_000,
  // How long a state may take to come. Nothing is asserted about time.
  expect: { timeout: 60_000 },
  reporter:
    process.env['ROCKPOOL_REPORT'] === undefined
      ? [['list']]
      : [['list'], ['../../scripts/tests/playwright-reporter.mjs']],
});
