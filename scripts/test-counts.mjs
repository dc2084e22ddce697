// Combines the reports of several test runners into one line. Pure: takes the results as data.

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * The needed part of what Vitest's JSON reporter writes.
 *
 * @typedef {object} VitestReport
 * @property {{ status: string, assertionResults: { status: string }[] }[]} testResults one per file
 */

/**
 * @param {VitestReport} report
 * @returns {Counts}
 */
export function countVitest(report) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    let failedInFile = 0;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') failedInFile += 1;
      else counts.skipped += 1; // skipped, pending, todo, disabled
    }
    // A file that could not be loaded, or whose beforeAll failed, is failed without naming a failed test.
    if (file.status === 'failed' && failedInFile === 0) failedInFile = 1;
    counts.failed += failedInFile;
  }
  return counts;
}

/**
 * The counts of a runner that has ended, which are never better than its exit code.
 *
 * @param {object} ended
 * @param {number} ended.exitCode
 * @param {Counts | undefined} ended.counts undefined if the runner left no report
 * @param {boolean} [ended.isComplete] false if it was interrupted
 * @param {boolean} [ended.mayBeEmpty] whether a selection of tests may leave it none
 * @returns {Counts}
 */
export function judgeRunner({ exitCode, counts, isComplete = true, mayBeEmpty = false }) {
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const nothingRan = counts.passed + counts.failed === 0 && !mayBeEmpty;
  const failedOutsideOfTests = exitCode !== 0 && counts.failed === 0; // a crash after the report
  return nothingRan || failedOutsideOfTests || !isComplete ? { ...counts, failed: counts.failed + 1 } : counts;
}

/**
 * @param {readonly Counts[]} all
 * @returns {Counts}
 */
export function addUp(all) {
  return all.reduce(
    (sum, { passed, failed, skipped }) => ({
      passed: sum.passed + passed,
      failed: sum.failed + failed,
      skipped: sum.skipped + skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** @param {Counts} counts */
export function isGreen({ passed, failed }) {
  return failed === 0 && passed > 0;
}

/** @param {Counts} counts */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
