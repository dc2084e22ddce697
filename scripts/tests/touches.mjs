// `npm test -- WORD`: the tests for files with the word in their path. Pure, except for the file reader that is passed
// in.

import { posix } from 'node:path';
import { suiteOf } from './test-files.mjs';

// `import … from './x.ts'`, `export … from`, `import('./x.ts')` and `new URL('./x.ts', import.meta.url)`, which is how
// workers and pages are named.
const REFERENCE = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)['"](\.{1,2}\/[^'"]+)['"]/g;
const CODE = /\.(?:tsx?|mjs)$/;
// Code that exists only for tests. A test covers what it reaches through such code, in addition to its own imports.
const HELPER = /(?:^tests|\/testing|\/e2e|\/test-support)\//;

/**
 * The tests among `files` that a word selects: those with the word in their own path, and those that import a file with
 * the word in its path, directly or through code that exists only for tests. Imports of the code under test do not
 * count, because then every word would select almost every test. The whole path of a file selects that file.
 *
 * @param {string} word
 * @param {readonly string[]} files relative to the root
 * @param {(file: string) => string} read
 * @returns {string[]}
 */
export function testsThatTouch(word, files, read) {
  const tests = files.filter((file) => suiteOf(file) !== undefined);
  if (tests.includes(word)) return [word];
  const known = new Set(files);
  /** @type {Map<string, string[]>} */
  const imports = new Map();
  /** @param {string} file */
  const importsOf = (file) => {
    const found =
      imports.get(file) ??
      (CODE.test(file)
        ? [...read(file).matchAll(REFERENCE)]
            .map(([, path = '']) => posix.join(posix.dirname(file), path))
            .filter((path) => known.has(path))
        : []);
    imports.set(file, found);
    return found;
  };
  return tests.filter((test) => {
    if (test.includes(word)) return true;
    const seen = new Set([test]);
    for (const file of seen) {
      for (const imported of importsOf(file)) {
        if (imported.includes(word)) return true;
        if (HELPER.test(imported)) seen.add(imported);
      }
    }
    return false;
  });
}
