// Writes the events of Playwright tests to the file in ROCKPOOL_REPORT, as vitest-reporter.mjs does for Vitest.

import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from '../children.mjs';

const reportFile = /** @type {string} */ (process.env['ROCKPOOL_REPORT']);

/** @param {import('./report.mjs').TestEvent} event */
const write = (event) => appendFileSync(reportFile, `${JSON.stringify(event)}\n`);

/** @param {import('playwright/types/testReporter').TestCase} test */
const fileOf = (test) => relative(root, test.location.file).replaceAll('\\', '/');

/**
 * The name that `--grep` matches, without the project and the file.
 *
 * @param {import('playwright/types/testReporter').TestCase} test
 */
const nameOf = (test) => test.titlePath().slice(3).join(' ');

/** The maximum number of lines of a console or server log in the reason of a failure. */
const lastLines = 4;

/**
 * The last lines of each attached text, such as a page's console.
 *
 * @param {import('playwright/types/testReporter').TestResult['attachments']} attachments
 */
const ends = (attachments) =>
  attachments.flatMap(({ name, body, contentType }) =>
    body === undefined || contentType !== 'text/plain'
      ? []
      : [`${name}:`, ...body.toString().trimEnd().split('\n').slice(-lastLines)],
  );

export default class {
  /**
   * The number of unfinished tests of each file, and the time of the finished ones. @type {Map<string, { left: number, ms:
   * number }>}
   */
  #files = new Map();

  printsToStdio() {
    return false;
  }

  /**
   * @param {import('playwright/types/testReporter').FullConfig} _config
   * @param {import('playwright/types/testReporter').Suite} suite
   */
  onBegin(_config, suite) {
    for (const test of suite.allTests()) {
      const file = this.#files.get(fileOf(test)) ?? { left: 0, ms: 0 };
      file.left += 1;
      this.#files.set(fileOf(test), file);
    }
  }

  /** @param {import('playwright/types/testReporter').TestCase} test */
  onTestBegin(test) {
    write({ event: 'begin', file: fileOf(test), name: nameOf(test) });
  }

  /**
   * @param {import('playwright/types/testReporter').TestCase} test
   * @param {import('playwright/types/testReporter').TestResult} result
   */
  onTestEnd(test, { status, duration, retry, errors, attachments }) {
    // Never retries: a flaky test can hide a lost write.
    const state =
      status === 'skipped' ? 'skipped' : status === test.expectedStatus && retry === 0 ? 'passed' : 'failed';
    const reason = [...errors.map(({ message = '', snippet = '' }) => `${message}\n${snippet}`), ...ends(attachments)];
    write({
      event: 'end',
      file: fileOf(test),
      name: nameOf(test),
      state,
      ms: duration,
      ...(state === 'failed' ? { reason: reason.join('\n') } : {}),
    });
    const file = this.#files.get(fileOf(test));
    if (file === undefined) return;
    file.left -= 1;
    file.ms += duration;
    if (file.left === 0) write({ event: 'file', file: fileOf(test), failed: false, ms: file.ms });
  }

  /** @param {import('playwright/types/testReporter').TestError} error outside of any test */
  onError({ message = '' }) {
    write({ event: 'error', message });
  }

  /** @param {import('playwright/types/testReporter').FullResult} result */
  onEnd({ status }) {
    if (status !== 'interrupted') write({ event: 'done' });
  }
}
