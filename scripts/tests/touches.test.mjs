import { describe, expect, it } from 'vitest';
import { testsThatTouch } from './touches.mjs';

/** @type {Record<string, string>} */
const sources = {
  'packages/a/src/merge/row.ts': "import '../clock.ts';",
  'packages/a/src/merge/row.test.ts': "import { row } from './row.ts';",
  'packages/a/src/clock.ts': '',
  'packages/a/src/clock.test.ts': "import { clock } from './clock.ts';",
  'packages/a/src/push.ts': "import { row } from './merge/row.ts';",
  'packages/a/src/push.test.ts': "import { push } from './push.ts';",
  'packages/a/src/both.test.ts': "import { push } from './push.ts';\nimport type { Row } from './merge/row.ts';",
  'packages/a/src/testing/rows.ts': "export { row } from '../merge/row.ts';",
  'packages/a/src/testing/more-rows.ts': "export * from './rows.ts';",
  'packages/a/src/through-helper.test.ts': "const { row } = await import('./testing/more-rows.ts');",
  'packages/a/src/worker.browser.test.ts': "new Worker(new URL('./merge/row.ts', import.meta.url));",
};
/** @param {string} word */
const touching = (word) => testsThatTouch(word, Object.keys(sources), (file) => sources[file] ?? '');

describe('npm test -- merge', () => {
  it('runs tests with the word in their path and tests that import such a file, even through workers and test code, but not through the code under test', () => {
    expect(touching('merge')).toEqual([
      'packages/a/src/merge/row.test.ts',
      'packages/a/src/both.test.ts',
      'packages/a/src/through-helper.test.ts',
      'packages/a/src/worker.browser.test.ts',
    ]);
  });

  it('runs one test if the word is the whole path of its file', () => {
    expect(touching('packages/a/src/merge/row.test.ts')).toEqual(['packages/a/src/merge/row.test.ts']);
  });

  it('finds nothing for a word that matches no path', () => {
    expect(touching('marge')).toEqual([]);
  });
});
