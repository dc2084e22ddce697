import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { specsOf } from '../../apps/demo-budget/e2e/harness/level.ts';
import config from '../../vitest.config.ts';
import stockConfig from '../../vitest.stock-browsers.config.ts';
import { sourceFiles, suiteOf } from './test-files.mjs';

/** @typedef {{ test?: { name?: unknown, include?: string[], exclude?: string[] } }} Project */

/** @param {import('vitest/config').ViteUserConfig} of */
const projectsOf = ({ test }) => /** @type {Project[]} */ (test?.projects ?? []);

it("every test runs in the one suite that its suffix selects, here and in Vitest's configuration", () => {
  const projects = projectsOf(config).filter(({ test }) => !['postgres', 'threads'].includes(String(test?.name)));
  const stock = projectsOf(stockConfig).filter(({ test }) => test?.name === 'firefox-killed');
  const tests = sourceFiles().filter(
    (file) => suiteOf(file) !== undefined && suiteOf(file)?.startsWith('end-to-end') === false,
  );
  expect(tests.length).toBeGreaterThan(300);
  for (const file of tests) {
    const matches = (/** @type {string[] | undefined} */ globs) =>
      globs?.some((glob) => matchesGlob(file, glob)) === true;
    const names = [...projects, ...stock]
      .filter(({ test }) => matches(test?.include) && !matches(test?.exclude))
      // Tests with modules of their own form a separate project.
      .map(({ test }) => (test?.name === 'node-isolated' ? 'node' : test?.name));
    expect(names, file).toEqual([suiteOf(file) === 'stock' ? 'firefox-killed' : suiteOf(file)]);
  }
});

it("every end-to-end test runs from the level on that its suffix names, in Playwright's configuration too", () => {
  const specs = sourceFiles().filter((file) => suiteOf(file)?.startsWith('end-to-end') === true);
  expect(specs.length).toBeGreaterThan(30);
  const isOfLevel = (/** @type {string} */ file) => suiteOf(file) === 'end-to-end';
  const matched = (/** @type {import('./level.mjs').Level} */ level) => {
    const { testMatch, testIgnore } = specsOf(level);
    return specs.filter((file) => matchesGlob(file, testMatch) && !testIgnore.some((glob) => matchesGlob(file, glob)));
  };
  expect(matched('test')).toEqual(specs.filter(isOfLevel));
  expect(matched('verify')).toEqual(specs);
  expect(matched('deep')).toEqual(specs);
});
