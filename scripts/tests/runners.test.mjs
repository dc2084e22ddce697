import { describe, expect, it } from 'vitest';
import { runnersOf } from './runners.mjs';
import { sourceFiles, suiteOf } from './test-files.mjs';

const none = {
  node: [],
  verify: [],
  deep: [],
  browser: [],
  'browser-verify': [],
  'browser-deep': [],
  stock: [],
  'end-to-end': [],
  'end-to-end-verify': [],
};

describe('the runners of a level', () => {
  /** @param {import('./level.mjs').Level} level */
  const suitesAt = (level) => [
    ...new Set(
      runnersOf({ level, files: { ...none, browser: ['a'] }, isPart: false, processors: 2 })
        .flat()
        .flatMap(({ suites }) => suites),
    ),
  ];

  it('include all suites of the level before, and every suite at the deep level', () => {
    expect(suitesAt('test').sort()).toEqual(['browser', 'end-to-end', 'node']);
    expect(suitesAt('verify')).toEqual(
      expect.arrayContaining([...suitesAt('test'), 'verify', 'browser-verify', 'end-to-end-verify']),
    );
    expect(suitesAt('deep').sort()).toEqual(
      [...new Set(sourceFiles().flatMap((file) => suiteOf(file) ?? [])), 'verify', 'browser-verify']
        .filter((suite, index, all) => all.indexOf(suite) === index)
        .sort(),
    );
  });

  it('include only those with a selected file', () => {
    const [[runner, ...others] = [], ...stages] = runnersOf({
      level: 'deep',
      files: { ...none, deep: ['a.deep.test.ts'] },
      isPart: true,
      processors: 2,
    });
    expect(runner?.files).toEqual(['a.deep.test.ts']);
    expect([others, stages]).toEqual([[], []]);
  });
});
