import { defineConfig } from 'playwright/test';

const reportFile = process.env['PLAYWRIGHT_JSON_OUTPUT_FILE'];

export default defineConfig({
  testDir: 'e2e',
  outputDir: '../../.rockpool/e2e',
  globalSetup: './e2e/harness/build-demo.ts',
  // Every spec starts servers and browsers of its own and kills some of them; two at once on two cores make each other late, not faster.
  workers: 1,
  // A test that needs a second try hides a lost write.
  retries: 0,
  forbidOnly: true,
  timeout: 120_000,
  // How long a state may take to come. Nothing is asserted about time; a machine that is busy with other things only needs patience.
  expect: { timeout: 20_000 },
  reporter: reportFile === undefined ? [['list']] : [['list'], ['json', { outputFile: reportFile }]],
});
