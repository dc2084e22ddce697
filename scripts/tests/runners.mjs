// The Vitest and Playwright processes that run the tests of a level, each with its own suites and files.

import { join } from 'node:path';
import { root } from '../children.mjs';
import { ensureStockBrowsers } from '../browsers/ensure-stock-browsers.mjs';
import { buildDemo } from '../demo-build.mjs';
import { levels } from './level.mjs';
import { dealOut } from './weights.mjs';

/**
 * A runner without a finished test or a line of output for this long is stuck: `testTimeout` and `hookTimeout` in the
 * configurations are shorter.
 */
const stuckAfterMs = 20 * 60_000;
/** The same limit for deep tests, which print nothing while they run. */
const deepStuckAfterMs = 60 * 60_000;

/**
 * The maximum number of Chromium profiles at the same time. Each takes memory, and eight seconds of processor time to
 * start.
 */
const mostProfiles = 4;

/**
 * @typedef {object} Runner
 * @property {string} title
 * @property {import('./test-files.mjs').Suite[]} suites
 * @property {readonly string[] | undefined} files its tests; undefined: all of its suites
 * @property {(name: string | undefined) => string[]} args for Node 24; `name`: the tests to run, as a part of their
 * full names
 * @property {number} stuckAfterMs time without events after which it is ended
 * @property {boolean} inChromium
 * @property {() => Promise<void>} [prepare] fails with a SetupError
 */

/**
 * @typedef {object} VitestOptions
 * @property {string} title
 * @property {import('./test-files.mjs').Suite[]} suites
 * @property {readonly string[] | undefined} files
 * @property {string} [config]
 * @property {readonly string[]} [projects] as named in the configuration; default: those of the suites
 * @property {number} [stuckAfter]
 * @property {() => Promise<void>} [prepare]
 * @property {readonly string[]} [options]
 */

/**
 * @param {VitestOptions} given
 * @returns {Runner}
 */
function vitest({
  title,
  suites,
  files,
  config = 'vitest.config.ts',
  projects = suites,
  stuckAfter = stuckAfterMs,
  prepare,
  options = [],
}) {
  return {
    title,
    suites,
    files,
    args: (name) => [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      config,
      // Node reads the configuration directly. Vitest would bundle it first, with the server that a test may request:
      // two seconds of processor time.
      '--configLoader=native',
      ...projects.flatMap((project) => ['--project', project]),
      '--reporter=default',
      `--reporter=${join(root, 'scripts/tests/vitest-reporter.mjs')}`,
      // A selection of files may leave none for one of the projects.
      '--passWithNoTests',
      ...options,
      ...(name === undefined ? [] : ['--testNamePattern', literal(name)]),
      ...(files ?? []),
    ],
    stuckAfterMs: stuckAfter,
    inChromium: suites.some((suite) => suite.startsWith('browser')),
    ...(prepare === undefined ? {} : { prepare }),
  };
}

/**
 * @param {import('./test-files.mjs').Suite[]} suites as the level of the run selects them in Playwright's configuration
 * @param {readonly string[] | undefined} files
 * @returns {Runner}
 */
function endToEnd(suites, files) {
  return {
    title: 'end to end',
    suites,
    files,
    args: (name) => [
      join(root, 'node_modules/playwright/cli.js'),
      'test',
      '--config',
      'apps/demo-budget/playwright.config.ts',
      ...(name === undefined ? [] : ['--grep', literal(name)]),
      ...(files ?? []).map((file) => `${literal(file)}$`),
    ],
    stuckAfterMs,
    inChromium: true,
    prepare: buildDemo,
  };
}

/** @param {string} text to escape for a regular expression */
function literal(text) {
  return text.replace(/[$()*+.?[\\\]^{|}/-]/g, '\\$&');
}

/**
 * The runners of a level, in stages. The runners of one stage run at the same time, so that a processor is in use while
 * a test waits.
 *
 * @param {object} choice
 * @param {import('./level.mjs').Level} choice.level
 * @param {Record<import('./test-files.mjs').Suite, readonly string[]>} choice.files of each suite
 * @param {boolean} choice.isPart whether they are a selection rather than all files
 * @param {number} choice.processors
 * @returns {Runner[][]}
 */
export function runnersOf({ level, files, isPart, processors }) {
  const atLeast = (/** @type {import('./level.mjs').Level} */ wanted) =>
    levels.indexOf(level) >= levels.indexOf(wanted);
  /** @type {import('./test-files.mjs').Suite[]} */
  const nodeSuites = atLeast('verify') ? ['node', 'verify'] : ['node'];
  /** @type {import('./test-files.mjs').Suite[]} */
  const browserSuites = atLeast('verify') ? ['browser', 'browser-verify'] : ['browser'];
  /** @type {import('./test-files.mjs').Suite[]} */
  const endToEndSuites = atLeast('verify') ? ['end-to-end', 'end-to-end-verify'] : ['end-to-end'];
  /** @param {import('./test-files.mjs').Suite[]} suites */
  const chosen = (suites) => (isPart ? suites.flatMap((suite) => files[suite]) : undefined);
  const shards = dealOut(
    browserSuites.flatMap((suite) => files[suite]),
    Math.min(processors, mostProfiles),
  );

  const always = [
    vitest({
      title: 'Node',
      suites: nodeSuites,
      projects: [...nodeSuites, 'node-isolated'],
      files: chosen(nodeSuites),
      // Half of all work is in this suite, so it gets half of the processes: it then ends at the same time as the other
      // suites.
      options: [`--maxWorkers=${2 * processors}`],
    }),
    ...shards.map((shard, index) =>
      vitest({
        title: shards.length === 1 ? 'Chromium' : `Chromium ${index + 1}`,
        suites: browserSuites,
        files: shard,
      }),
    ),
    endToEnd(endToEndSuites, chosen(endToEndSuites)),
  ];
  const deep = [
    vitest({ title: 'deep, Node', suites: ['deep'], files: chosen(['deep']), stuckAfter: deepStuckAfterMs }),
    // The server tests again, on PostgreSQL.
    vitest({
      title: 'PostgreSQL',
      suites: ['node'],
      projects: ['postgres'],
      files: chosen(['node']),
      stuckAfter: deepStuckAfterMs,
    }),
    // The server tests again, with databases on threads of their own.
    vitest({
      title: 'threads',
      suites: ['node'],
      projects: ['threads'],
      files: chosen(['node']),
      stuckAfter: deepStuckAfterMs,
    }),
    vitest({
      title: 'deep, Chromium',
      suites: ['browser-deep'],
      files: chosen(['browser-deep']),
      stuckAfter: deepStuckAfterMs,
    }),
    vitest({
      title: 'stock Firefox and WebKitGTK',
      config: 'vitest.stock-browsers.config.ts',
      suites: ['stock', 'browser'],
      projects: [],
      files: chosen(['stock', 'browser']),
      stuckAfter: deepStuckAfterMs,
      prepare: ensureStockBrowsers,
    }),
  ];
  const stages = atLeast('deep') ? [always, ...deep.map((runner) => [runner])] : [always];
  return stages
    .map((stage) => stage.filter(({ files: own }) => own === undefined || own.length > 0))
    .filter((stage) => stage.length > 0);
}
