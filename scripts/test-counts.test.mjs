import { describe, expect, it } from 'vitest';
import { addUp, countPlaywright, countVitest, isGreen, judgeRunner, summaryLine } from './test-counts.mjs';

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

  it('counts an unstable end-to-end test and an error outside of tests as failures', () => {
    const report = { stats: { expected: 5, unexpected: 1, flaky: 1, skipped: 2 }, errors: [{}] };
    expect(countPlaywright(report)).toEqual({ passed: 5, failed: 3, skipped: 2 });
  });
});

describe('a runner', () => {
  it('that left no report counts as a failure, whatever its exit code', () => {
    expect(judgeRunner({ exitCode: 0, counts: undefined }).failed).toBe(1);
    expect(judgeRunner({ exitCode: 139, counts: undefined }).failed).toBe(1);
  });

  it('that ended badly after a green report counts as a failure', () => {
    expect(judgeRunner({ exitCode: 1, counts: green })).toEqual({ ...green, failed: 1 });
  });

  it('that ran nothing counts as a failure', () => {
    expect(judgeRunner({ exitCode: 0, counts: { passed: 0, failed: 0, skipped: 4 } }).failed).toBe(1);
  });

  it('is not charged twice for tests that failed', () => {
    const counts = { passed: 3, failed: 2, skipped: 0 };
    expect(judgeRunner({ exitCode: 1, counts })).toEqual(counts);
  });
});

describe('the closing line', () => {
  it('adds up over all runners', () => {
    expect(summaryLine(addUp([green, { passed: 10, failed: 2, skipped: 0 }]))).toBe('13 passed, 2 failed, 1 skipped');
  });

  it('stands for success only when something passed and nothing failed', () => {
    expect(isGreen(green)).toBe(true);
    expect(isGreen({ ...green, failed: 1 })).toBe(false);
    expect(isGreen(addUp([]))).toBe(false);
  });
});
