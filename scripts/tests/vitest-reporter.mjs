// Writes the events of Vitest tests to the file in ROCKPOOL_REPORT as they happen, so that an interrupted run still
// shows which tests ran.

import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from '../children.mjs';

const reportFile = /** @type {string} */ (process.env['ROCKPOOL_REPORT']);

/** @param {import('./report.mjs').TestEvent} event */
const write = (event) => appendFileSync(reportFile, `${JSON.stringify(event)}\n`);

/** @param {import('vitest/node').TestModule} module */
const fileOf = (module) => relative(root, module.moduleId).replaceAll('\\', '/');

/**
 * The name that `-t` matches.
 *
 * @param {import('vitest/node').TestCase} test
 */
const nameOf = (test) => test.fullName;

/**
 * The message, the diff and the stack of an error.
 *
 * @param {import('vitest').TestError} error
 */
const reasonOf = ({ message, diff = '', stack = '' }) =>
  [message, diff, stack.startsWith(`Error: ${message}`) ? stack.slice(message.length + 7) : stack].join('\n');

export default class {
  /** @param {import('vitest/node').TestCase} test */
  onTestCaseReady(test) {
    write({ event: 'begin', file: fileOf(test.module), name: nameOf(test) });
  }

  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    write({
      event: 'end',
      file: fileOf(test.module),
      name: nameOf(test),
      state: state === 'pending' ? 'failed' : state,
      ms: test.diagnostic()?.duration ?? 0,
      ...(errors.length === 0 ? {} : { reason: errors.map(reasonOf).join('\n') }),
    });
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    write({
      event: 'file',
      file: fileOf(module),
      failed: module.state() === 'failed',
      ms: collectDuration + setupDuration + duration,
    });
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} _modules
   * @param {readonly import('vitest').TestError[]} errors
   * @param {'passed' | 'interrupted' | 'failed'} reason
   */
  onTestRunEnd(_modules, errors, reason) {
    for (const error of errors) write({ event: 'error', message: reasonOf(error) });
    if (reason !== 'interrupted') write({ event: 'done' });
  }
}
