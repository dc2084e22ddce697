// Runs one test process until it exits, or ends it when it is stuck. Events written before that count in both cases.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode24 } from '../children.mjs';
import { readReport } from './report.mjs';

const lookEveryMs = 5_000;

/**
 * @typedef {object} Ended
 * @property {import('./report.mjs').Report} report
 * @property {number} exitCode
 * @property {boolean} wasStuck whether it was ended because it was stuck
 */

/**
 * @param {import('./runners.mjs').Runner} runner
 * @param {object} options
 * @param {string | undefined} options.name runs tests with this text in their full names
 * @param {string | undefined} options.chromium
 * @param {import('./level.mjs').Level} options.level
 * @param {number} options.seed
 * @param {string} options.prefix of each line it prints
 * @param {string} options.compileCache folder in which the Node processes of a run share compiled code
 * @returns {Promise<Ended>}
 */
export async function runRunner(runner, { name, chromium, level, seed, prefix, compileCache }) {
  // Reports, browser profiles, databases of servers under test: all in one folder, which is removed even if the tests
  // fail. The name is short because Chromium puts a socket below it, and the path of a socket has room for about 100
  // characters.
  const temporary = mkdtempSync(join(tmpdir(), 'rp'));
  // PostgreSQL has its folder in here and does not run as root, so another user must be able to enter it.
  chmodSync(temporary, 0o711);
  const remove = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  const reportFile = join(temporary, 'report.jsonl');

  const stuck = new AbortController();
  let lastLineMs = performance.now();
  let reportBytes = 0;
  const watch = setInterval(() => {
    const bytes = existsSync(reportFile) ? statSync(reportFile).size : 0;
    if (bytes > reportBytes) lastLineMs = performance.now();
    reportBytes = bytes;
    if (performance.now() - lastLineMs > runner.stuckAfterMs) stuck.abort();
  }, lookEveryMs);

  const { exitCode } = await runNode24(runner.args(name), {
    env: {
      TMPDIR: temporary,
      ROCKPOOL_CHROMIUM: chromium,
      ROCKPOOL_LEVEL: level,
      ROCKPOOL_SEED: String(seed),
      ROCKPOOL_REPORT: reportFile,
      // A server that runs from its sources starts in half the time if an earlier one has already stripped their types.
      NODE_COMPILE_CACHE: compileCache,
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
    },
    signal: stuck.signal,
    onLine(line) {
      lastLineMs = performance.now();
      console.log(`${prefix}${line}`);
    },
  });
  clearInterval(watch);
  const report = readReport(existsSync(reportFile) ? readFileSync(reportFile, 'utf8') : '');
  process.off('exit', remove);
  remove();
  return { report, exitCode, wasStuck: stuck.signal.aborted };
}
