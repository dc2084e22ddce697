import { describe, expect, it } from 'vitest';
import { addUp, countVitest, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';

const green = { passed: 3, failed: 0, skipped: 1 };

describe("a runner's report", () => {
  it('counts every test of every file once', () => {
    const testResults = [
      { status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'skipped' }, { status: 'todo' }] },
      { status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] },
    ];
    expect(countVitest({ testResults })).toEqual({ passed: 2, failed: 1, skipped: 2 });
  });

  it('counts a file that could not be loaded as one failure', () => {
    expect(countVitest({ testResults: [{ status: 'failed', assertionResults: [] }] })).toEqual({
      passed: 0,
      failed: 1,
      skipped: 0,
    });
  });

  it('counts a file whose set-up failed as one failure', () => {
    const testResults = [{ status: 'failed', assertionResults: [{ status: 'skipped' }] }];
    expect(countVitest({ testResults })).toEqual({ passed: 0, failed: 1, skipped: 1 });
  });
});

describe('a runner', () => {
  it('fails without a report, whatever its exit code', () => {
    expect(judgeRunner({ exitCode: 0, counts: undefined }).failed).toBe(1);
    expect(judgeRunner({ exitCode: 139, counts: undefined }).failed).toBe(1);
  });

  it('fails with a failing exit code, even if its report passes', () => {
    expect(judgeRunner({ exitCode: 1, counts: green })).toEqual({ ...green, failed: 1 });
  });

  it('fails if it ran no test', () => {
    expect(judgeRunner({ exitCode: 0, counts: { passed: 0, failed: 0, skipped: 4 } }).failed).toBe(1);
  });

  it('fails in addition to its failed tests if it was interrupted', () => {
    expect(judgeRunner({ exitCode: 143, counts: green, isComplete: false })).toEqual({ ...green, failed: 1 });
    expect(judgeRunner({ exitCode: 143, counts: { ...green, failed: 2 }, isComplete: false })).toEqual({
      ...green,
      failed: 3,
    });
  });

  it('may run no test if the selected tests belong to other runners', () => {
    expect(judgeRunner({ exitCode: 0, counts: { passed: 0, failed: 0, skipped: 4 }, mayBeEmpty: true }).failed).toBe(0);
  });

  it('does not count failed tests twice', () => {
    const counts = { passed: 3, failed: 2, skipped: 0 };
    expect(judgeRunner({ exitCode: 1, counts })).toEqual(counts);
  });
});

describe('the closing line', () => {
  it('sums the test counts of all runners', () => {
    expect(summaryLine(addUp([green, { passed: 10, failed: 2, skipped: 0 }]))).toBe('13 passed, 2 failed, 1 skipped');
  });

  it('reports success only if something passed and nothing failed', () => {
    expect(isGreen(green)).toBe(true);
    expect(isGreen({ ...green, failed: 1 })).toBe(false);
    expect(isGreen(addUp([]))).toBe(false);
  });
});
