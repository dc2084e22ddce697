// `npm test`: installs, finds a browser, runs every test there is, and closes with one line over all of them.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from './browser.mjs';
import { root, runNode24, stopSignal } from './children.mjs';
import { buildDemo } from './demo-build.mjs';
import { SetupError, isMain, runCommand, setup } from './setup.mjs';
import { addUp, countPlaywright, countVitest, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';

/** No runner of `npm test` should take a quarter of an hour; one that hangs must end as a failure, with the rest still run. */
const runnerTimeoutMs = 15 * 60_000;
const deepTimeoutMs = 2 * 60 * 60_000;

/**
 * @typedef {object} Runner
 * @property {string} title
 * @property {(reportFile: string) => string[]} args
 * @property {(report: any) => import('./test-counts.mjs').Counts} count
 * @property {number} timeoutMs
 * @property {() => Promise<void>} [prepare]
 */

/**
 * @param {string} title
 * @param {string} project as named in vitest.config.ts
 * @param {number} [timeoutMs]
 * @returns {Runner}
 */
function vitest(title, project, timeoutMs = runnerTimeoutMs) {
  const cli = join(root, 'node_modules/vitest/vitest.mjs');
  return {
    title,
    args: (reportFile) => [
      cli,
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${reportFile}`,
    ],
    count: countVitest,
    timeoutMs,
  };
}

/** @type {Runner} */
const endToEnd = {
  title: 'End to end: the demo in Chromium, with its server',
  args: () => [join(root, 'node_modules/playwright/cli.js'), 'test', '--config', 'apps/demo-budget/playwright.config.ts'],
  count: countPlaywright,
  timeoutMs: runnerTimeoutMs,
  prepare: buildDemo,
};

/**
 * Runs every test, the deep ones only when asked, and prints the closing line.
 *
 * @param {{ deep?: boolean }} [options]
 * @returns {Promise<boolean>} whether something passed and nothing failed
 * @throws {SetupError}
 */
export async function runTests({ deep = false } = {}) {
  await setup();
  const chromium = await ensureChromium();

  const runners = [vitest('In Node', 'node'), vitest('In Chromium', 'browser')];
  if (hasFile('apps/demo-budget/e2e', '.spec.ts')) runners.push(endToEnd);
  if (deep && ['packages', 'apps', 'tests'].some((folder) => hasFile(folder, '.deep.test.ts'))) {
    runners.push(vitest('Deep: many seeds, crashes everywhere', 'deep', deepTimeoutMs));
  }

  // Reports, browser profiles, databases of servers under test: all in one folder, which goes away however the tests end. The name is
  // short because Chromium puts a socket below it, and the path of a socket has room for about 100 characters.
  const temporary = mkdtempSync(join(tmpdir(), 'rp'));
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 }));

  const all = [];
  for (const [index, runner] of runners.entries()) {
    console.log(`\n── ${runner.title}`);
    const reportFile = join(temporary, `report-${index}.json`);
    const env = { TMPDIR: temporary, ROCKPOOL_CHROMIUM: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile };
    try {
      await runner.prepare?.();
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      console.log(error.message);
      all.push(judgeRunner({ exitCode: 1, counts: undefined }));
      continue;
    }
    const { exitCode, timedOut } = await runNode24(runner.args(reportFile), { env, timeoutMs: runner.timeoutMs });
    if (stopSignal() !== undefined) throw new SetupError('Stopped.');
    if (timedOut) console.log(`Killed: not done after ${runner.timeoutMs / 60_000} minutes.`);
    all.push(judgeRunner({ exitCode: timedOut ? 1 : exitCode, counts: readCounts(reportFile, runner.count) }));
  }
  const total = addUp(all);
  console.log(`\n${summaryLine(total)}`);
  return isGreen(total);
}

/**
 * @param {string} file
 * @param {Runner['count']} count
 */
function readCounts(file, count) {
  try {
    return count(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    console.log(`No report from this runner (${error instanceof Error ? error.message : String(error)}).`);
    return undefined;
  }
}

/**
 * @param {string} folder
 * @param {string} suffix
 * @returns {boolean}
 */
function hasFile(folder, suffix) {
  if (!existsSync(join(root, folder))) return false;
  return readdirSync(join(root, folder), { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? entry.name !== 'node_modules' && hasFile(join(folder, entry.name), suffix)
      : entry.name.endsWith(suffix),
  );
}

if (isMain(import.meta.url)) await runCommand(async () => ((await runTests()) ? 0 : 1));
