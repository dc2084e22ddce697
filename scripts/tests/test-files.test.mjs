import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import config from '../../vitest.config.ts';
import stockConfig from '../../vitest.stock-browsers.config.ts';
import { sourceFiles, suiteOf } from './test-files.mjs';

/** @typedef {{ test?: { name?: unknown, include?: string[], exclude?: string[] } }} Project */

/** @param {import('vitest/config').ViteUserConfig} of */
const projectsOf = ({ test }) => /** @type {Project[]} */ (test?.projects ?? []);

it("every test runs in the one suite that its suffix selects, here and in Vitest's configuration", () => {
  const projects = projectsOf(config).filter(({ test }) => !['postgres', 'threads'].includes(String(test?.name)));
  const stock = projectsOf(stockConfig).filter(({ test }) => test?.name === 'firefox-killed');
  const tests = sourceFiles().filter((file) => suiteOf(file) !== undefined && suiteOf(file) !== 'end-to-end');
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
