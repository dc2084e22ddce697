import { defineConfig } from 'playwright/test';

export default defineConfig({
  testDir: 'e2e',
  outputDir: '../../.rockpool/e2e',
  globalSetup: './e2e/harness/build-demo.ts',
  // Every spec starts its own servers and browsers and spends much of its time waiting for them.
  workers: 2,
  // A test that passes only on retry may hide a lost write.
  retries: 0,
  forbidOnly: true,
  // Only a hang should end a test; a busy machine should not fail it.
  timeout: 300_000,
  // How long to wait for a state. No test asserts a duration.
  expect: { timeout: 60_000 },
  reporter:
    process.env['ROCKPOOL_REPORT'] === undefined
      ? [['list']]
      : [['list'], ['../../scripts/tests/playwright-reporter.mjs']],
});
