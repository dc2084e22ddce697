// Summarises the events that runners have written so far, one line of JSON each. Pure: takes the text as an argument.

import { stripVTControlCharacters } from 'node:util';
import { seedInEnvironment } from './seed.mjs';

/**
 * `begin` and `end` belong to a test, and `reason` says why it failed; `file` reports that a file has ended; `error` is
 * a fault outside of any test; `done` is the last event of a runner that finished.
 *
 * @typedef {(
 *   | { event: 'begin', file: string, name: string }
 *   | { event: 'end', file: string, name: string, state: 'passed' | 'failed' | 'skipped', ms: number, reason?: string }
 *   | { event: 'file', file: string, failed: boolean, ms: number }
 *   | { event: 'error', message: string }
 *   | { event: 'done' }
 * )} TestEvent
 */

/**
 * @typedef {object} Failure
 * @property {string} file
 * @property {string | undefined} name undefined if the file itself failed
 * @property {string} reason empty if the runner gave none
 */

/**
 * @typedef {object} Report
 * @property {import('../test-counts.mjs').Counts} counts
 * @property {Failure[]} failures
 * @property {string[]} errors messages of faults outside of any test
 * @property {{ file: string, name: string }[]} unfinished tests that were running when the runner ended
 * @property {{ file: string, ms: number }[]} files that ended, in that order
 * @property {boolean} isComplete whether the runner finished
 */

/**
 * @param {string} text lines of JSON; an incomplete last line is ignored
 * @returns {Report}
 */
export function readReport(text) {
  /** @type {Report} */
  const report = {
    counts: { passed: 0, failed: 0, skipped: 0 },
    failures: [],
    errors: [],
    unfinished: [],
    files: [],
    isComplete: false,
  };
  /** @type {Map<string, { file: string, name: string }>} */
  const running = new Map();
  const fail = (/** @type {Failure} */ failure) => {
    report.counts.failed += 1;
    report.failures.push(failure);
  };
  for (const line of text.split('\n').slice(0, -1)) {
    /** @type {TestEvent} */
    const event = JSON.parse(line);
    if (event.event === 'begin') running.set(`${event.file} ${event.name}`, { file: event.file, name: event.name });
    if (event.event === 'end') {
      running.delete(`${event.file} ${event.name}`);
      if (event.state === 'failed') fail({ file: event.file, name: event.name, reason: event.reason ?? '' });
      else report.counts[event.state] += 1;
    }
    if (event.event === 'file') {
      report.files.push({ file: event.file, ms: event.ms });
      // The file failed to load, or a hook around its tests failed.
      if (event.failed && !report.failures.some(({ file }) => file === event.file))
        fail({ file: event.file, name: undefined, reason: '' });
    }
    if (event.event === 'error') {
      report.counts.failed += 1;
      report.errors.push(event.message);
    }
    if (event.event === 'done') report.isComplete = true;
  }
  report.unfinished = [...running.values()];
  return report;
}

/**
 * @param {readonly { file: string, ms: number }[]} files
 * @param {number} count
 * @returns {string[]} one line each, slowest first; adds up the times of a file that ran in several runners
 */
export function slowest(files, count) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { file, ms } of files) sums.set(file, (sums.get(file) ?? 0) + ms);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
}

/** The maximum number of lines of a reason that the summary repeats. */
const reasonLines = 24;

/**
 * What a summary says of a failure: the test, the reason, and the command that repeats it. A summary is all that some
 * logs of a long run keep.
 *
 * @param {Failure} failure
 * @param {import('./level.mjs').Level} level
 * @param {number} seed of the run
 * @returns {string[]}
 */
export function failureLines(failure, level, seed) {
  const { file, name, reason } = failure;
  return [
    `  ${file}${name === undefined ? '' : `: ${name}`}`,
    ...shortened(reason).map((line) => `      ${line}`),
    `    ${repeatCommand(failure, level, seed)}`,
  ];
}

/**
 * @param {string} text may contain colors
 * @returns {string[]} its first lines, without empty ones and places in other packages
 */
export function shortened(text) {
  return stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('node_modules'))
    .slice(0, reasonLines);
}

/**
 * The command that runs one failed test again.
 *
 * @param {Pick<Failure, 'file' | 'name'>} failure
 * @param {import('./level.mjs').Level} level
 * @param {number} seed of the run
 */
export function repeatCommand({ file, name }, level, seed) {
  const environment = `${level === 'test' ? '' : `ROCKPOOL_LEVEL=${level} `}${seedInEnvironment(seed, level)}`;
  return `${environment}npm test -- ${file}${name === undefined ? '' : ` -t ${quoted(name)}`}`;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
