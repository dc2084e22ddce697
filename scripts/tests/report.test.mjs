import { describe, expect, it } from 'vitest';
import { failureLines, readReport, repeatCommand, slowest } from './report.mjs';

/** @param {import('./report.mjs').TestEvent[]} events */
const lines = (...events) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

const file = 'packages/a/src/a.test.ts';
/**
 * @param {string} name
 * @param {'passed' | 'failed' | 'skipped'} state
 * @returns {import('./report.mjs').TestEvent[]}
 */
const test = (name, state) => [
  { event: 'begin', file, name },
  { event: 'end', file, name, state, ms: 5 },
];

describe("a runner's report", () => {
  it('counts every test once', () => {
    const report = readReport(
      lines(
        ...test('a', 'passed'),
        ...test('b', 'failed'),
        ...test('c', 'skipped'),
        { event: 'file', file, failed: true, ms: 20 },
        { event: 'done' },
      ),
    );
    expect(report).toMatchObject({
      counts: { passed: 1, failed: 1, skipped: 1 },
      failures: [{ file, name: 'b', reason: '' }],
      unfinished: [],
      isComplete: true,
    });
  });

  it('counts a file that could not be loaded, and one whose set-up failed, as one failure', () => {
    expect(readReport(lines({ event: 'file', file, failed: true, ms: 1 }))).toMatchObject({
      counts: { failed: 1 },
      failures: [{ file, name: undefined, reason: '' }],
    });
    expect(readReport(lines(...test('a', 'skipped'), { event: 'file', file, failed: true, ms: 1 })).counts).toEqual({
      passed: 0,
      failed: 1,
      skipped: 1,
    });
  });

  it('counts an error outside of tests as a failure', () => {
    expect(
      readReport(
        lines(...test('a', 'passed'), { event: 'error', message: 'an unhandled rejection' }, { event: 'done' }),
      ).counts,
    ).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  it('lists finished and running tests if the run was interrupted', () => {
    const cut = `${lines(...test('a', 'passed'), { event: 'begin', file, name: 'b' })}{"event":"end","fi`;
    expect(readReport(cut)).toMatchObject({
      counts: { passed: 1, failed: 0, skipped: 0 },
      unfinished: [{ file, name: 'b' }],
      isComplete: false,
    });
  });
});

it('lists the slowest files first, with their total time over all runners', () => {
  const files = [
    { file: 'a', ms: 1000 },
    { file: 'b', ms: 1500 },
    { file: 'a', ms: 1000 },
    { file: 'c', ms: 10 },
  ];
  expect(slowest(files, 2)).toEqual(['     2.0 s  a', '     1.5 s  b']);
});

describe('the summary of a failure', () => {
  it('repeats the beginning of the reason, without colors, empty lines and places in other packages', () => {
    const reason = [
      '\u001B[31mexpected 1\u001B[39m',
      '',
      '  at run (/a/node_modules/vitest/run.js:1)',
      ...Array.from({ length: 40 }, (_, row) => `line ${row}`),
    ];
    const { failures } = readReport(
      lines({ event: 'end', file, name: 'a', state: 'failed', ms: 1, reason: reason.join('\n') }),
    );
    const summary = failures.flatMap((failure) => failureLines(failure, 'test', 1));
    expect(summary.slice(0, 3)).toEqual([`  ${file}: a`, '      expected 1', '      line 0']);
    expect(summary.length).toBe(26);
    expect(summary.at(-1)).toBe(`    npm test -- ${file} -t 'a'`);
  });

  it('has the message of an error outside of any test', () => {
    expect(readReport(lines({ event: 'error', message: 'an unhandled rejection' })).errors).toEqual([
      'an unhandled rejection',
    ]);
  });
});

describe('the command that repeats a failure', () => {
  it('names the file, test and level', () => {
    expect(repeatCommand({ file, name: "a suite doesn't fail" }, 'test', 1)).toBe(
      `npm test -- ${file} -t 'a suite doesn'\\''t fail'`,
    );
    expect(repeatCommand({ file, name: 'a' }, 'verify', 8)).toBe(
      `ROCKPOOL_LEVEL=verify ROCKPOOL_SEED=8 npm test -- ${file} -t 'a'`,
    );
    expect(repeatCommand({ file, name: 'a' }, 'test', 8)).toBe(`ROCKPOOL_SEED=8 npm test -- ${file} -t 'a'`);
  });

  it('names only the file if it failed outside its tests', () => {
    expect(repeatCommand({ file, name: undefined }, 'test', 1)).toBe(`npm test -- ${file}`);
  });
});
