import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './children.mjs';
import { sourceFiles } from './tests/test-files.mjs';

// A fixed delay in a test is too short on a busy machine or too long on any other. Tests wait for an event, advance a
// virtual clock, or poll a condition instead. The delays listed here have another reason.

/** @type {Record<string, string>} */
const allowed = {
  'packages/client/src/tab/own-transactions.test.ts': 'the clock is virtual',
  'packages/sync-server/src/auth/host-rules.test.ts': 'the host under test answers late',
  'packages/sync-server/src/cli/stop-overdue.test.ts': 'replaces the timers of a server',
  'packages/sync-server/src/session/hostile-clients.deep.test.ts': 'the pace of an honest client',
  'packages/sync-server/src/session/load.deep.test.ts': 'the pace of the load',
  'packages/sync-server/src/session/many-databases.deep.test.ts': 'the pace of the load',
  'packages/vfs-opfs/src/media/indexeddb.browser.test.ts': 'the moment at which a worker ends; any is right',
  'tests/documents/typing.test.ts': 'the pace of people and of the network, from a random number; any is right',
  'tests/kills/sigkill.deep.test.ts': 'the moment of a kill; any is right',
};

const TEST = /(\.test\.tsx?|\.spec\.ts|\.contract\.ts)$/;
// A turn of the event loop, `setTimeout(resolve)` or `setTimeout(resolve, 0)`, is not a delay.
const WAIT = /waitForTimeout\(|(?<!\.)\bsleep\(|setTimeout\((?:\(\) => )?\w+(?:\([^()]*\))?,(?! *0\))/;
/** A delay inside a polling loop: the loop starts on the same line or up to four lines above. */
const LOOP = /\bwhile \(|\bfor \(;;\)/;

/**
 * @param {string} code
 * @returns {string[]} the lines with a fixed delay
 */
function waitsIn(code) {
  const lines = code.split('\n');
  return lines.filter(
    (line, index) => WAIT.test(line) && !lines.slice(Math.max(0, index - 4), index + 1).some((near) => LOOP.test(near)),
  );
}

// A busy machine may reach a test's own time limit. Only a hang reaches the limits of the configurations, which also
// apply to `expect.poll`. Vitest's own waits end after a second. Tests that take minutes are the exception.
const LIMITED = /\btimeout: |\bvi\.waitFor\(|\bvi\.waitUntil\(/;
const LONG_TEST = /\.(?:deep|verify|stock)\./;

describe('time limits in tests', () => {
  it('are set only in the configuration', () => {
    const limited = sourceFiles()
      .filter((file) => TEST.test(file) && !LONG_TEST.test(file))
      .filter((file) => LIMITED.test(readFileSync(join(root, file), 'utf8')));
    expect(limited).toEqual([]);
  });

  it.each([
    'await vi.waitFor(() => expect(opened).toHaveBeenCalled());',
    "it('hashes', { timeout: 120_000 }, async () => {",
  ])('detects %s', (line) => {
    expect(LIMITED.test(line)).toBe(true);
  });
});

describe('fixed delays in tests', () => {
  const waiting = sourceFiles()
    .filter((file) => TEST.test(file))
    .filter((file) => waitsIn(readFileSync(join(root, file), 'utf8')).length > 0);

  it('occur only with a listed reason', () => {
    expect(waiting.filter((file) => allowed[file] === undefined)).toEqual([]);
  });

  it('still exist wherever a reason is listed', () => {
    expect(Object.keys(allowed).filter((file) => !waiting.includes(file))).toEqual([]);
  });

  it.each([
    'await new Promise((resolve) => setTimeout(resolve, 20));',
    'await page.waitForTimeout(UNDO_STEP_MS);',
    'const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));',
    'await sleep(1_000);',
  ])('detects %s', (line) => {
    expect(waitsIn(line)).toEqual([line]);
  });

  it.each([
    'await new Promise((resolve) => setTimeout(resolve));',
    'await new Promise((resolve) => setTimeout(resolve, 0));',
    'while (!done) await new Promise((resolve) => setTimeout(resolve, 5));',
  ])('ignores %s', (line) => {
    expect(waitsIn(line)).toEqual([]);
  });
});
