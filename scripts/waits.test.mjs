import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hangLimits } from '../vitest.config.ts';
import { root } from './children.mjs';
import { sourceFiles } from './tests/test-files.mjs';

// A fixed delay in a test is too short on a busy machine or too long on any other. Tests wait for an event, advance a
// virtual clock, or poll a condition instead. The delays listed here have another reason.

/** @type {Record<string, string>} */
const allowed = {
  'apps/demo-budget/e2e/harness/demo-server.ts': 'a limit, which only a hang reaches',
  'apps/demo-budget/e2e/harness/gateway.ts': 'the delay of a slow network',
  'apps/demo-budget/e2e/harness/long-deadlines.ts': 'replaces the timers of a page',
  'apps/demo-budget/e2e/harness/worker-clock.ts': 'the timer of a clock that runs faster',
  'apps/demo-budget/testing/in-app.tsx': 'replaces the timers of a page',
  'packages/client/src/tab/own-transactions.test.ts': 'the clock is virtual',
  'packages/sync-server/src/auth/host-rules.test.ts': 'the host under test answers late',
  'packages/sync-server/src/cli/stop-overdue.test.ts': 'replaces the timers of a server',
  'packages/sync-server/src/session/hostile-clients.test.ts': 'longer than the pause between two checks of deadlines',
  'packages/sync-server/src/session/load.deep.test.ts': 'the pace of the load',
  'packages/sync-server/src/session/many-databases.deep.test.ts': 'the pace of the load',
  'packages/sync-server/src/store/postgres/instances.contract.ts': 'longer than a decision that is made again may take',
  'packages/sync-server/src/threads/database-thread.test.ts': 'longer than the pause between two reports',
  'packages/sync-server/testing/postgres-chaos.ts': 'the duration of a fault, a random number; any is right',
  'packages/sync-server/testing/slow-link.ts': 'the delay of a slow network',
  'packages/vfs-opfs/src/media/indexeddb.browser.test.ts': 'the moment at which a worker ends; any is right',
  'packages/vfs-opfs/testing/simulated-extents.ts': 'the delay of a simulated disk',
  'tests/chaos/tab-chaos.ts': 'the pace of tabs and of what happens to them; any is right',
  'tests/documents/typing.test.ts': 'the pace of people and of the network, from a random number; any is right',
  'tests/kills/journal.ts': 'a limit, which only a hang reaches',
  'tests/kills/sigkill.deep.test.ts': 'the moment of a kill; any is right',
};

/** Measured durations with a limit. @type {Record<string, string>} */
const allowedDurations = {
  'packages/client/src/worker/sync/retry-delay.test.ts': 'the clock is virtual',
  'packages/shared/src/clock/age.property.test.ts': 'the clock is virtual',
  'packages/shared/src/document/hostile-edits.test.ts': 'processor time, which only a hang takes',
  'packages/sync-server/src/documents/documents.test.ts': 'processor time, which only a hang takes',
};

const TEST = /(\.test\.tsx?|\.test\.mjs|\.spec\.ts|\.contract\.ts)$/;
/** Code that tests call. The clock of the simulation is virtual. */
const HELPER = /^tests\/(?!simulation\/)|\/testing\/|\/e2e\//;
/** Tests and what they call, except this file. */
const testCode = sourceFiles().filter(
  (file) => /\.(?:tsx?|mjs)$/.test(file) && (TEST.test(file) || HELPER.test(file)) && file !== 'scripts/waits.test.mjs',
);

// A turn of the event loop, `setTimeout(resolve)` or `setTimeout(resolve, 0)`, is not a delay. A declaration of `sleep`
// is none either.
const WAIT =
  /waitForTimeout\(|(?<!\.)\bsleep\((?!\w+: )|\bdelay\(\w|\bAtomics\.wait\((?:[^,]*,){3} *\w|setTimeout\((?:\(\) => (?:void )?)?\w+(?:\([^()]*\))?,(?! *0\))/;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
const LOOP = /\bwhile \(|\bfor \([^;]*; *;/;
const FUNCTION = /\bfunction\b|=> \{$/;

/**
 * @param {string} code
 * @returns {string[]} the lines with a fixed delay outside a polling loop
 */
function waitsIn(code) {
  const lines = code.split('\n');
  return lines.filter((line, index) => WAIT.test(line) && !COMMENT.test(line) && !isInLoop(lines, index));
}

/**
 * @param {readonly string[]} lines
 * @param {number} index
 */
function isInLoop(lines, index) {
  let indent = Infinity;
  for (let at = index; at >= 0 && indent > 0; at -= 1) {
    const line = lines[at] ?? '';
    const own = line.search(/\S/);
    if (own === -1 || own >= indent) continue;
    // The line itself, or the beginning of a block around it.
    if (LOOP.test(line)) return true;
    if (at < index && FUNCTION.test(line)) return false;
    indent = own;
  }
  return false;
}

// Whether a duration is below a limit depends on the machine. Count events or work instead, and print durations.
const LIMITED_DURATION =
  /expect\((?:[^;]*(?:(?:Ms|Seconds|elapsed|duration|took)\b|now\(\)))[^;]*\)\s*\.(?:not\.)?toBe(?:Less|Greater)Than(?:OrEqual)?\(\s*[\dA-Z][\d_A-Z\s*+/.-]*\)/g;

/**
 * @param {string} code
 * @returns {readonly string[]} the assertions that compare a duration with a constant
 */
function limitedDurationsIn(code) {
  return code.match(LIMITED_DURATION) ?? [];
}

// A busy machine may reach a test's own time limit. Only a hang reaches the limits of the configurations, which also
// apply to `expect.poll`. Vitest's own waits end after a second. Tests that take minutes may have longer limits.
const LIMITED = /\btimeout: |\bvi\.waitFor\(|\bvi\.waitUntil\(/;
const LONG_TEST = /\.(?:deep|verify|stock)\./;
/** An option, or the last argument of a test or hook, which is indented by at most one `describe`. */
const LIMIT =
  /(?:\btimeout: |^ *\}, |^(?:  ){1,2}(?=[\d_ *]+,\n *\);))([\d_]+(?: \* [\d_]+)*)(?=,\n *\);|\);$| \}|,$)/gm;

/**
 * @param {string} code
 * @returns {readonly string[]} the time limits that are shorter than those of the configuration
 */
function shortLimitsIn(code) {
  const limits = [...code.matchAll(LIMIT)].map(([, limit = '']) => limit);
  return limits.filter(
    (limit) => limit.split('*').reduce((ms, by) => ms * Number(by.replaceAll('_', '')), 1) < hangLimits.hookTimeout,
  );
}

describe('time limits in tests', () => {
  it('are set only in the configuration', () => {
    const limited = testCode
      .filter((file) => TEST.test(file) && !LONG_TEST.test(file))
      .filter((file) => LIMITED.test(readFileSync(join(root, file), 'utf8')));
    expect(limited).toEqual([]);
  });

  it('are longer than in the configuration if a test takes minutes', () => {
    const long = testCode.filter((file) => LONG_TEST.test(file));
    expect(long.filter((file) => shortLimitsIn(readFileSync(join(root, file), 'utf8')).length > 0)).toEqual([]);
  });

  it.each([
    "it('hashes', { timeout: 5 * 60_000 }, async () => {",
    "it(\n  'hashes',\n  { timeout: 600_000 },\n  async () => {",
    'afterAll(() => {\n  server.close();\n}, 120_000);',
    "it(\n  'hashes',\n  () => hash(),\n  5 * 60_000,\n);",
  ])('are found to be short in %s', (code) => {
    expect(shortLimitsIn(code)).toHaveLength(1);
  });

  it.each([
    "it('hashes', { timeout: 60 * 60_000 }, async () => {",
    "it(\n  'hashes',\n  () => hash(),\n  20 * 60_000,\n);",
    'const SIZES = [\n  1,\n  2,\n];',
  ])('are not found to be short in %s', (code) => {
    expect(shortLimitsIn(code)).toEqual([]);
  });

  it.each([
    'await vi.waitFor(() => expect(opened).toHaveBeenCalled());',
    "it('hashes', { timeout: 120_000 }, async () => {",
  ])('detects %s', (line) => {
    expect(LIMITED.test(line)).toBe(true);
  });
});

/** @param {(code: string) => readonly string[]} find */
const filesWith = (find) => testCode.filter((file) => find(readFileSync(join(root, file), 'utf8')).length > 0);

describe.each([
  { what: 'fixed delays in tests', found: filesWith(waitsIn), reasons: allowed },
  { what: 'limits of measured durations in tests', found: filesWith(limitedDurationsIn), reasons: allowedDurations },
])('$what', ({ found, reasons }) => {
  it('occur only with a listed reason', () => {
    expect(found.filter((file) => reasons[file] === undefined)).toEqual([]);
  });

  it('still exist wherever a reason is listed', () => {
    expect(Object.keys(reasons).filter((file) => !found.includes(file))).toEqual([]);
  });
});

describe('fixed delays', () => {
  it.each([
    'await new Promise((resolve) => setTimeout(resolve, 20));',
    'await page.waitForTimeout(UNDO_STEP_MS);',
    'const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));',
    'await sleep(1_000);',
    'await delay(1_000);',
    'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);',
  ])('detects %s', (line) => {
    expect(waitsIn(line)).toEqual([line]);
  });

  it.each([
    'await new Promise((resolve) => setTimeout(resolve));',
    'await new Promise((resolve) => setTimeout(resolve, 0));',
    'while (!done) await new Promise((resolve) => setTimeout(resolve, 5));',
    'for (;;) {\n  if (done) return;\n  await sleep(5);\n}',
    'function sleep(ms: number): Promise<void> {',
    'wait: () => void Atomics.wait(flag, 0, 0),',
  ])('ignores %s', (line) => {
    expect(waitsIn(line)).toEqual([]);
  });

  it('are detected beside a loop and in a function that a loop defines', () => {
    expect(waitsIn('while (!done) poll();\nawait sleep(5);')).toEqual(['await sleep(5);']);
    expect(waitsIn('while (!done) {\n  poll(async () => {\n    await sleep(5);\n  });\n}')).toHaveLength(1);
  });
});

describe('limits of measured durations', () => {
  it.each([
    'expect(slowestMs).toBeLessThan(3000);',
    'expect(performance.now() - start).toBeLessThanOrEqual(LIMIT_MS);',
    'expect(Date.now() - start).toBeGreaterThan(2 * PAUSE_MS);',
    'expect(\n  Math.max(...openings.map(({ elapsedMs }) => elapsedMs)),\n).toBeLessThan(3_000);',
  ])('detects %s', (line) => {
    expect(limitedDurationsIn(line)).toHaveLength(1);
  });

  it.each([
    'expect(count).toBeLessThan(3000);',
    'expect(storage.dirtySinceMs).toBeLessThanOrEqual(Date.now());',
    'expect(wakeAtMs).toBe(3000); expect(count).toBeLessThan(3);',
  ])('ignores %s', (line) => {
    expect(limitedDurationsIn(line)).toEqual([]);
  });
});
