import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './children.mjs';
import { sourceFiles } from './tests/test-files.mjs';

// A test that waits for a while is too short on a busy machine, or too long on every other. It waits for an event,
// moves a virtual clock, or looks again until something is so. What stands here waits for another reason.

/** @type {Record<string, string>} */
const allowed = {
  'apps/demo-budget/e2e/offline-conflicts.spec.ts':
    'two clocks of real workers must have moved on, at least so far; more does no harm',
  'packages/client/src/tab/own-transactions.test.ts': 'the clock is virtual',
  'packages/client/src/tab/tab-worker.browser.test.ts': 'the worker under test answers late',
  'packages/sync-server/src/auth/host-rules.test.ts': 'the host under test answers late',
  'packages/sync-server/src/session/hostile-clients.deep.test.ts': 'the pace of an honest client',
  'packages/sync-server/src/session/load.deep.test.ts': 'the pace of the load',
  'packages/sync-server/src/session/many-databases.deep.test.ts': 'the pace of the load',
  'packages/vfs-opfs/src/media/indexeddb.browser.test.ts': 'the moment at which a worker ends; any is right',
  'tests/documents/typing.test.ts': 'the pace of people and of the network, from a random number; any is right',
  'tests/kills/sigkill.deep.test.ts': 'the moment of a kill; any is right',
};

const TEST = /(\.test\.tsx?|\.spec\.ts|\.contract\.ts)$/;
// A turn of the event loop, `setTimeout(resolve)` and `setTimeout(resolve, 0)`, is no while.
const WAIT = /waitForTimeout\(|(?<!\.)\bsleep\(|setTimeout\((?:\(\) => )?\w+(?:\([^()]*\))?,(?! *0\))/;
/** Looks again after a pause: the end of a loop, on the line itself or up to four lines above. */
const LOOP = /\bwhile \(|\bfor \(;;\)/;

/**
 * @param {string} code
 * @returns {string[]} the lines that wait for a while
 */
function waitsIn(code) {
  const lines = code.split('\n');
  return lines.filter(
    (line, index) => WAIT.test(line) && !lines.slice(Math.max(0, index - 4), index + 1).some((near) => LOOP.test(near)),
  );
}

describe('no test waits for a while', () => {
  const waiting = sourceFiles()
    .filter((file) => TEST.test(file))
    .filter((file) => waitsIn(readFileSync(join(root, file), 'utf8')).length > 0);

  it('but for those with a reason', () => {
    expect(waiting.filter((file) => allowed[file] === undefined)).toEqual([]);
  });

  it('and no reason has outlived its wait', () => {
    expect(Object.keys(allowed).filter((file) => !waiting.includes(file))).toEqual([]);
  });

  it.each([
    'await new Promise((resolve) => setTimeout(resolve, 20));',
    'await page.waitForTimeout(UNDO_STEP_MS);',
    'const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));',
    'await sleep(1_000);',
  ])('%s is noticed', (line) => {
    expect(waitsIn(line)).toEqual([line]);
  });

  it.each([
    'await new Promise((resolve) => setTimeout(resolve));',
    'await new Promise((resolve) => setTimeout(resolve, 0));',
    'while (!done) await new Promise((resolve) => setTimeout(resolve, 5));',
  ])('%s is none', (line) => {
    expect(waitsIn(line)).toEqual([]);
  });
});
