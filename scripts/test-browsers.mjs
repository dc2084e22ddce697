// `npm run test:browsers`: the contracts of storage and client in Chromium, stock Firefox (a private window too) and
// WebKitGTK. Installs missing browsers if it can. `--write` stores the results in docs/browser-support.json and the
// table of docs/browser-support.md.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from './browser.mjs';
import { ensureStockBrowsers } from './browsers/ensure-stock-browsers.mjs';
import { findStockBrowsers } from './browsers/find-stock-browsers.mjs';
import { resultOf, supportTable, withTable } from './browsers/support-table.mjs';
import { startWebKit } from './browsers/webkit.mjs';
import { root, run, runNode24, stopSignal } from './children.mjs';
import { isMain, runCommand, setup } from './setup.mjs';
import { addUp, countVitest, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';

const timeoutMs = 20 * 60_000;
const contracts = ['packages/vfs-opfs/src/media/media.browser.test.ts', 'packages/client/src/media.browser.test.ts'];

/**
 * @typedef {object} BrowserRun
 * @property {string} title
 * @property {() => Promise<string>} version
 * @property {string} config
 * @property {string} project
 */

/**
 * @param {string} chromium
 * @returns {BrowserRun[]}
 */
function browserRuns(chromium) {
  const { firefox, webkit } = findStockBrowsers();
  const stock = 'vitest.stock-browsers.config.ts';
  return [
    { title: 'Chromium', version: () => printedVersion(chromium), config: 'vitest.config.ts', project: 'browser' },
    { title: 'Firefox', version: () => printedVersion(firefox), config: stock, project: 'firefox' },
    {
      title: 'Firefox, private window',
      version: () => printedVersion(firefox),
      config: stock,
      project: 'firefox-private',
    },
    { title: 'WebKitGTK', version: () => webKitVersion(webkit), config: stock, project: 'webkit' },
  ];
}

/** @param {string} program */
async function printedVersion(program) {
  const { output } = await run(program, ['--version'], { quiet: true, timeoutMs: 60_000 });
  return firstVersion(output);
}

/**
 * MiniBrowser prints nothing without a display, so it is asked while it runs.
 *
 * @param {Parameters<typeof startWebKit>[0]} programs
 */
async function webKitVersion(programs) {
  const browser = await startWebKit(programs);
  await browser.close();
  return firstVersion(browser.version);
}

/** @param {string} text */
function firstVersion(text) {
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? 'of unknown version';
}

/**
 * @param {BrowserRun} browser
 * @param {string} chromium
 * @returns {Promise<{ counts: import('./test-counts.mjs').Counts, result:
 * import('./browsers/support-table.mjs').BrowserResult | undefined }>}
 */
async function runOne({ title, version, config, project }, chromium) {
  const head = `${title} ${await version()}`;
  console.log(`\n── ${head}`);
  const temporary = mkdtempSync(join(tmpdir(), 'rp'));
  const reportFile = join(temporary, 'report.json');
  const args = [
    'run',
    '--config',
    config,
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...contracts,
  ];
  try {
    const { exitCode } = await runNode24([join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
      timeoutMs,
      // From this level on, every medium runs the whole contract.
      env: { TMPDIR: temporary, ROCKPOOL_CHROMIUM: chromium, ROCKPOOL_LEVEL: 'verify' },
    });
    const report = readReport(reportFile);
    const counts = judgeRunner({ exitCode, counts: report === undefined ? undefined : countVitest(report) });
    return { counts, result: report === undefined ? undefined : resultOf(head, report) };
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {readonly import('./browsers/support-table.mjs').BrowserResult[]} results */
function writeTable(results) {
  const page = join(root, 'docs/browser-support.md');
  writeFileSync(join(root, 'docs/browser-support.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), supportTable(results)));
}

if (isMain(import.meta.url)) {
  await runCommand(async () => {
    await setup();
    const chromium = await ensureChromium('complete');
    await ensureStockBrowsers();
    const outcomes = [];
    for (const browser of browserRuns(chromium)) {
      if (stopSignal() !== undefined) return 1;
      outcomes.push(await runOne(browser, chromium));
    }
    const results = outcomes.flatMap(({ result }) => result ?? []);
    console.log(`\n${supportTable(results)}`);
    const total = addUp(outcomes.map(({ counts }) => counts));
    // A run that failed part-way has incomplete results, which are not written.
    if (process.argv.includes('--write') && isGreen(total)) writeTable(results);
    console.log(`\n${summaryLine(total)}`);
    return isGreen(total) ? 0 : 1;
  });
}
