// `npm test`: installs, finds a browser, runs the tests, and ends with one summary line for all of them.
//
//   npm test                         every test of the level
//   npm test -- merge                those that touch what has "merge" in its path; several words add up
//   npm test -- FILE -t 'NAME'       one test

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from './browser.mjs';
import { root, stopSignal } from './children.mjs';
import { SetupError, isMain, runCommand, setup } from './setup.mjs';
import { addUp, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';
import { levelOfThisRun } from './tests/level.mjs';
import { failureLines, shortened, slowest } from './tests/report.mjs';
import { runRunner } from './tests/run-runner.mjs';
import { runnersOf } from './tests/runners.mjs';
import { seedOfThisRun } from './tests/seed.mjs';
import { sourceFiles, suiteOf } from './tests/test-files.mjs';
import { testsThatTouch } from './tests/touches.mjs';

const slowestCount = 20;

/**
 * @typedef {object} TestOptions
 * @property {import('./tests/level.mjs').Level} level
 * @property {readonly string[]} [words] run the tests that touch one of them; default: all
 * @property {string} [name] run tests with this text in their full names
 */

/**
 * Runs the tests of a level and prints the closing line, whatever else happens.
 *
 * @param {TestOptions} options
 * @returns {Promise<boolean>} whether something passed and nothing failed
 */
export async function runTests(options) {
  /** @type {import('./test-counts.mjs').Counts[]} */
  const all = [];
  if (await succeeds(setup)) all.push(...(await runAll(options)));
  // If setup failed, no test ran. After a signal, only some tests ran. Neither counts as success.
  if (stopSignal() !== undefined && addUp(all).failed === 0) all.push({ passed: 0, failed: 1, skipped: 0 });
  const total = addUp(all);
  if (total.passed + total.failed === 0) total.failed = 1;
  console.log(`\n${summaryLine(total)}`);
  return isGreen(total);
}

/**
 * @param {TestOptions} options
 * @returns {Promise<import('./test-counts.mjs').Counts[]>}
 */
async function runAll({ level, words = [], name }) {
  const seed = seedOfThisRun(level);
  const files = sourceFiles();
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  const tests =
    words.length === 0
      ? files.filter((file) => suiteOf(file) !== undefined)
      : words.flatMap((word) => testsThatTouch(word, files, read));
  for (const word of words)
    if (testsThatTouch(word, files, read).length === 0) console.log(`No test touches "${word}".`);
  const stages = runnersOf({
    level,
    files: bySuite([...new Set(tests)]),
    isPart: words.length > 0,
    processors: availableParallelism(),
  });
  if (tests.length > 0 && stages.length === 0)
    console.log(`None of the selected tests runs at the level "${level}"; ROCKPOOL_LEVEL can be verify or deep.`);

  /** @type {string | undefined} */
  let chromium;
  if (stages.flat().some(({ inChromium }) => inChromium)) {
    await succeeds(async () => {
      // From `npm run verify` on, the tests run in a browser as people use it.
      chromium = await ensureChromium(level === 'test' ? 'headless' : 'complete');
    });
  }
  const compileCache = mkdtempSync(join(tmpdir(), 'rpc'));
  const removeCache = () => rmSync(compileCache, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', removeCache);
  const outcomes = [];
  for (const stage of stages) {
    if (stopSignal() !== undefined) break;
    const width = Math.max(...stage.map(({ title }) => title.length));
    const runs = stage.map((runner) =>
      runOne(runner, {
        chromium,
        level,
        seed,
        name,
        prefix: stage.length === 1 ? '' : `${runner.title.padEnd(width)} │ `,
        compileCache,
      }),
    );
    outcomes.push(...(await Promise.all(runs)));
  }
  process.off('exit', removeCache);
  removeCache();
  for (const { lines } of outcomes) for (const line of lines) console.log(line);
  if (level !== 'test' && words.length === 0) {
    const ended = outcomes.flatMap(({ files: own }) => own);
    console.log(`\nThe slowest files:\n${slowest(ended, slowestCount).join('\n')}`);
  }
  return outcomes.map(({ counts }) => counts);
}

/**
 * @param {readonly string[]} tests
 * @returns {Record<import('./tests/test-files.mjs').Suite, string[]>}
 */
function bySuite(tests) {
  /** @type {Record<import('./tests/test-files.mjs').Suite, string[]>} */
  const suites = {
    node: [],
    verify: [],
    deep: [],
    browser: [],
    'browser-verify': [],
    'browser-deep': [],
    stock: [],
    'end-to-end': [],
    'end-to-end-verify': [],
  };
  for (const test of tests) {
    const suite = suiteOf(test);
    if (suite !== undefined) suites[suite].push(test);
  }
  return suites;
}

/**
 * @param {import('./tests/runners.mjs').Runner} runner
 * @param {{ chromium: string | undefined, level: import('./tests/level.mjs').Level, seed: number, name: string |
 * undefined, prefix: string, compileCache: string }} options
 * @returns {Promise<{ counts: import('./test-counts.mjs').Counts, lines: string[], files: { file: string, ms: number
 * }[] }>} `lines`: output to print last
 */
async function runOne(runner, options) {
  const neverRan = {
    counts: { passed: 0, failed: 1, skipped: 0 },
    lines: [`\n${runner.title}: did not run, see above.`],
    files: [],
  };
  if (runner.inChromium && options.chromium === undefined) return neverRan;
  if (runner.prepare !== undefined && !(await succeeds(runner.prepare))) return neverRan;

  const { report, exitCode, wasStuck } = await runRunner(runner, options);
  const isPart = runner.files !== undefined;
  const counts = judgeRunner({
    exitCode,
    counts: report.counts,
    isComplete: report.isComplete,
    mayBeEmpty: isPart || options.name !== undefined,
  });
  const lines = [];
  if (wasStuck)
    lines.push(
      `\n${runner.title}: ended by force, because nothing had happened for ${runner.stuckAfterMs / 60_000} minutes.`,
    );
  if (!report.isComplete) {
    lines.push(`\n${runner.title}: cut short (exit code ${exitCode}), after ${summaryLine(report.counts)}.`);
    if (report.unfinished.length > 0)
      lines.push('What was running then:', ...report.unfinished.map(({ file, name }) => `  ${file}: ${name}`));
  }
  if (report.failures.length > 0) lines.push(`\n${runner.title}: what failed, and the command that runs it again:`);
  for (const failure of report.failures) lines.push(...failureLines(failure, options.level, options.seed));
  for (const error of report.errors)
    lines.push(`\n${runner.title}: an error outside of any test:`, ...shortened(error).map((line) => `      ${line}`));
  return { counts, lines, files: report.files };
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
 * @param {readonly string[]} args
 * @returns {Pick<TestOptions, 'words' | 'name'>}
 */
function parseArguments(args) {
  const at = args.findIndex((arg) => arg === '-t' || arg === '--testNamePattern');
  if (at === -1) return { words: args };
  const name = args[at + 1];
  if (name === undefined) throw new SetupError('Give the name of a test, or a part of it, after -t.');
  return { words: [...args.slice(0, at), ...args.slice(at + 2)], name };
}

if (isMain(import.meta.url)) {
  await runCommand(async () =>
    (await runTests({ level: levelOfThisRun(), ...parseArguments(process.argv.slice(2)) })) ? 0 : 1,
  );
}
