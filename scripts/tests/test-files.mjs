// Maps each test file to the suite that runs it. CONTRIBUTING.md documents the suffixes; `vitest.config.ts` and the
// demo's `playwright.config.ts` have the same ones as patterns.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';

/**
 * @typedef {'node' | 'verify' | 'deep' | 'browser' | 'browser-verify' | 'browser-deep' | 'stock' | 'end-to-end' |
 *   'end-to-end-verify'} Suite
 */

const folders = ['packages', 'apps', 'tests', 'scripts', 'benchmarks', 'examples'];
const notOurs = new Set(['node_modules', 'dist', '.rockpool', '.turbo', '.vite']);

/** The first match selects the suite of a file. @type {readonly [suffix: RegExp, suite: Suite][]} */
const suites = [
  [/\.stock\.test\.ts$/, 'stock'],
  [/\.deep\.browser\.test\.tsx?$/, 'browser-deep'],
  [/\.verify\.browser\.test\.tsx?$/, 'browser-verify'],
  [/\.browser\.test\.tsx?$/, 'browser'],
  [/\.deep\.test\.tsx?$/, 'deep'],
  [/\.verify\.test\.tsx?$/, 'verify'],
  [/\.test\.(tsx?|mjs)$/, 'node'],
  [/\/e2e\/[^/]+\.verify\.spec\.ts$/, 'end-to-end-verify'],
  [/\/e2e\/[^/]+\.spec\.ts$/, 'end-to-end'],
];

/**
 * @param {string} file
 * @returns {Suite | undefined} undefined if the file is not a test
 */
export function suiteOf(file) {
  return suites.find(([suffix]) => suffix.test(file))?.[1];
}

/**
 * @returns {string[]} every file below our folders, relative to the root, in the same order on every machine
 */
export function sourceFiles() {
  return folders.filter((folder) => existsSync(join(root, folder))).flatMap(filesBelow);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !notOurs.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
    });
}
