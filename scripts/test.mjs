// `npm test`: installs, finds a browser, runs every test there is, and closes with one line over all of them.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from './browser.mjs';
import { root, runNode24, stopSignal } from './children.mjs';
import { ensureStockBrowsers } from './browsers/ensure-stock-browsers.mjs';
import { buildDemo } from './demo-build.mjs';
import { SetupError, isMain, runCommand, setup } from './setup.mjs';
import { addUp, countPlaywright, countVitest, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';

/** The longest takes ten minutes on two cores to itself, and a slow machine may take twice that; one that hangs must end as a failure, with the rest still run. */
const runnerTimeoutMs = 27 * 60_000;
const deepTimeoutMs = 2 * 60 * 60_000;
/** Ten thousand long histories take three hours on two processors, and every seeded fault is hunted beside them. */
const deepInNodeTimeoutMs = 10 * 60 * 60_000;

/**
 * @typedef {object} Runner
 * @property {string} title
 * @property {(reportFile: string) => string[]} args for Node 24
 * @property {(report: any) => import('./test-counts.mjs').Counts} count
 * @property {number} timeoutMs
 * @property {boolean} inChromium
 * @property {() => Promise<void>} [prepare] fails with a SetupError
 */

/**
 * @param {Pick<Runner, 'title' | 'inChromium' | 'prepare'> & { config?: string, project?: string, timeoutMs?: number }} options `project` as named in the configuration; all of them without it
 * @returns {Runner}
 */
function vitest({ config = 'vitest.config.ts', project = '*', timeoutMs = runnerTimeoutMs, ...rest }) {
  const cli = join(root, 'node_modules/vitest/vitest.mjs');
  return {
    ...rest,
    args: (reportFile) => [
      cli,
      'run',
      '--config',
      config,
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

const inNode = vitest({ title: 'In Node', project: 'node', inChromium: false });
const inChromium = vitest({ title: 'In Chromium', project: 'browser', inChromium: true });
const deepInNode = vitest({ title: 'Deep, in Node', project: 'deep', inChromium: false, timeoutMs: deepInNodeTimeoutMs });
const onPostgres = vitest({ title: 'On PostgreSQL', project: 'postgres', inChromium: false, timeoutMs: deepTimeoutMs });
const deepInChromium = vitest({ title: 'Deep, in Chromium', project: 'browser-deep', inChromium: true, timeoutMs: deepTimeoutMs });

const inStockBrowsers = vitest({
  title: 'In stock Firefox and WebKitGTK',
  config: 'vitest.stock-browsers.config.ts',
  inChromium: false,
  timeoutMs: deepTimeoutMs,
  prepare: ensureStockBrowsers,
});

/** @type {Runner} */
const endToEnd = {
  title: 'End to end: the demo in Chromium, with its server',
  args: () => [join(root, 'node_modules/playwright/cli.js'), 'test', '--config', 'apps/demo-budget/playwright.config.ts'],
  count: countPlaywright,
  timeoutMs: runnerTimeoutMs,
  inChromium: true,
  prepare: buildDemo,
};

/**
 * Runs every test, the deep ones only when asked, and prints the closing line, whatever else happens.
 *
 * @param {{ deep?: boolean }} [options]
 * @returns {Promise<boolean>} whether something passed and nothing failed
 */
export async function runTests({ deep = false } = {}) {
  /** @type {import('./test-counts.mjs').Counts[]} */
  const all = [];
  if (await succeeds(setup)) {
    /** @type {string | undefined} */
    let chromium;
    await succeeds(async () => {
      chromium = await ensureChromium();
    });
    for (const runner of runnersToUse(deep)) {
      if (stopSignal() !== undefined) break;
      console.log(`\n── ${runner.title}`);
      all.push(await runOne(runner, chromium));
    }
  }
  // Without a set-up nothing ran; after a signal not all of it did. Neither is a green run.
  if (all.length === 0 || stopSignal() !== undefined) all.push({ passed: 0, failed: 1, skipped: 0 });
  const total = addUp(all);
  console.log(`\n${summaryLine(total)}`);
  return isGreen(total);
}

/** @param {boolean} deep */
function runnersToUse(deep) {
  const always = [inNode, inChromium, endToEnd];
  return deep ? [...always, deepInNode, onPostgres, deepInChromium, inStockBrowsers] : always;
}

/**
 * @param {Runner} runner
 * @param {string | undefined} chromium
 */
async function runOne(runner, chromium) {
  const neverRan = judgeRunner({ exitCode: 1, counts: undefined });
  if (runner.inChromium && chromium === undefined) {
    console.log('Not run: there is no Chromium, see above.');
    return neverRan;
  }
  if (runner.prepare !== undefined && !(await succeeds(runner.prepare))) return neverRan;

  // Reports, browser profiles, databases of servers under test: all in one folder, which goes away however the tests end. The name is
  // short because Chromium puts a socket below it, and the path of a socket has room for about 100 characters.
  const temporary = mkdtempSync(join(tmpdir(), 'rp'));
  // PostgreSQL has its folder in here and does not run as root: another user has to get through.
  chmodSync(temporary, 0o711);
  const remove = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  const reportFile = join(temporary, 'report.json');
  const { exitCode, timedOut } = await runNode24(runner.args(reportFile), {
    timeoutMs: runner.timeoutMs,
    env: { TMPDIR: temporary, ROCKPOOL_CHROMIUM: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile },
  });
  if (timedOut) console.log(`Ended by force: not done after ${runner.timeoutMs / 60_000} minutes.`);
  const counts = readCounts(reportFile, runner.count);
  process.off('exit', remove);
  remove();
  return judgeRunner({ exitCode, counts });
}

/**
 * @param {() => Promise<void>} step
 * @returns {Promise<boolean>} false after a SetupError, whose message has been printed
 */
async function succeeds(step) {
  try {
    await step();
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(error.message);
    return false;
  }
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

if (isMain(import.meta.url)) await runCommand(async () => ((await runTests()) ? 0 : 1));
