// Selects the Node tests that need a process of their own. All others share the modules of their process: evaluating
// the same imports for each file takes longer than most files' tests.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';
import { sourceFiles, suiteOf } from './test-files.mjs';

/** Replaces a module for everything that imports it. */
const REPLACES_MODULE = /\bvi\.(mock|doMock|hoisted|resetModules)\(/;

/** Counts the requests of its process, which must not include late requests of an earlier test file. */
const COUNTS_REQUESTS = /\bspyOn\(globalThis, '(fetch|WebSocket)'/;

/** Replaces a global, whose value a module may have kept for an earlier test file. */
const REPLACES_GLOBAL = /\bvi\.stubGlobal\(/;

/** Runs the tests of another file, which register themselves only on the first import. */
const RUNS_OTHER_TESTS = /^import\b.*\.test(\.[a-z]+)?';$/m;

/** @param {string} source of a test file */
export function needsOwnModules(source) {
  return [REPLACES_MODULE, COUNTS_REQUESTS, REPLACES_GLOBAL, RUNS_OTHER_TESTS].some((pattern) => pattern.test(source));
}

/** @returns {string[]} relative to the root */
export function isolatedFiles() {
  return sourceFiles().filter(
    (file) => suiteOf(file) === 'node' && needsOwnModules(readFileSync(join(root, file), 'utf8')),
  );
}
