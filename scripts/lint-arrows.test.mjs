import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './children.mjs';

/** @typedef {[behaviour: string, file: string, code: string, rule: string]} Snippet */

/**
 * Each folder has its own restricted imports in the configuration, which replace the general ones instead of adding to
 * them.
 */
const everyFolder = [
  'apps/demo-budget/server',
  ...['shared', 'vfs-opfs', 'client', 'sync-server'].map((name) => `packages/${name}/src`),
  ...['tab', 'worker', 'react', 'drizzle'].map((name) => `packages/client/src/${name}`),
  'apps/demo-budget/src',
];

/**
 * @param {string} folder
 * @returns {Snippet[]}
 */
function edgesOf(folder) {
  const rule = 'no-restricted-imports';
  return [
    [`${folder} imports no index of a folder below`, `${folder}/edge-a.ts`, "import './deep/index.ts';", rule],
    [`${folder} imports no index of a folder above`, `${folder}/deep/edge-b.ts`, "import '..';", rule],
    [
      `${folder} enters no package by a path`,
      `${folder}/edge-c.ts`,
      "import '../../../packages/shared/src/clock/stamp.ts';",
      rule,
    ],
  ];
}

/** @type {Snippet[]} */
const refused = [
  [
    'shared imports no other package',
    'packages/shared/src/a.ts',
    "import '@rockpool/client';",
    'no-restricted-imports',
  ],
  [
    'a function of a package has at most 70 lines',
    'packages/client/src/long.ts',
    `export function long(run) {\n${'  run();\n'.repeat(70)}}`,
    'max-lines-per-function',
  ],
  [
    'a function of a test kit has at most 70 lines',
    'tests/kit/long.ts',
    `export function long(run) {\n${'  run();\n'.repeat(70)}}`,
    'max-lines-per-function',
  ],
  [
    'a component has at most 185 lines',
    'apps/demo-budget/src/long.tsx',
    `export function Long(run) {\n${'  run();\n'.repeat(185)}}`,
    'max-lines-per-function',
  ],
  [
    'a file has at most 350 lines of code, unless the configuration gives its reason',
    'packages/client/src/worker/long-file.ts',
    'export const one = [0];\none.push(1);\n'.concat('one.push(1);\n'.repeat(349)),
    'max-lines',
  ],
  ['shared imports nothing of Node', 'packages/shared/src/b.ts', "import 'node:fs';", 'no-restricted-imports'],
  ['shared uses no timer', 'packages/shared/src/c.ts', 'setTimeout(() => {}, 1);', 'no-restricted-globals'],
  [
    'shared uses nothing of a page',
    'packages/shared/src/d.ts',
    'export const title = document.title;',
    'no-restricted-globals',
  ],
  [
    'vfs-opfs imports no other package',
    'packages/vfs-opfs/src/a.ts',
    "import '@rockpool/shared';",
    'no-restricted-imports',
  ],
  [
    'client never imports sync-server',
    'packages/client/src/a.ts',
    "export * from '@rockpool/sync-server';",
    'no-restricted-imports',
  ],
  [
    'tab/ never imports sync-server',
    'packages/client/src/tab/a.ts',
    "import '@rockpool/sync-server';",
    'no-restricted-imports',
  ],
  [
    'tab/ never imports worker/',
    'packages/client/src/tab/b.ts',
    "import '../worker/entry.ts';",
    'no-restricted-imports',
  ],
  [
    'tab/ never imports types of worker/',
    'packages/client/src/tab/c/d.ts',
    "export type { A } from '../../worker/sync/a.ts';",
    'no-restricted-imports',
  ],
  [
    'worker/ never imports tab/',
    'packages/client/src/worker/sync/a.ts',
    "import '../../tab/sql.ts';",
    'no-restricted-imports',
  ],
  [
    'worker/ never imports sync-server',
    'packages/client/src/worker/b.ts',
    "import '@rockpool/sync-server';",
    'no-restricted-imports',
  ],
  [
    'react/ imports no inner file of the client',
    'packages/client/src/react/a.ts',
    "import '../tab/sql.ts';",
    'no-restricted-imports',
  ],
  [
    'drizzle/ imports no inner file of the client',
    'packages/client/src/drizzle/a.ts',
    "import '../rpc/worker-api.ts';",
    'no-restricted-imports',
  ],
  ['react/ imports no shared', 'packages/client/src/react/b.ts', "import '@rockpool/shared';", 'no-restricted-imports'],
  [
    'sync-server never imports client',
    'packages/sync-server/src/a.ts',
    "import '@rockpool/client';",
    'no-restricted-imports',
  ],
  [
    'sync-server never imports vfs-opfs',
    'packages/sync-server/src/b.ts',
    "import '@rockpool/vfs-opfs';",
    'no-restricted-imports',
  ],
  [
    'the pages of an app import no shared',
    'apps/demo-budget/src/a.ts',
    "import '@rockpool/shared';",
    'no-restricted-imports',
  ],
  [
    'the pages of an app import no sync-server',
    'apps/demo-budget/src/b.ts',
    "import '@rockpool/sync-server';",
    'no-restricted-imports',
  ],
  [
    "the pages of an app never import the app's server",
    'apps/demo-budget/src/c/d.ts',
    "import '../../server/serve.ts';",
    'no-restricted-imports',
  ],
  ...everyFolder.flatMap((folder) => edgesOf(folder)),
  [
    'a test enters no package by a path',
    'packages/client/src/a.test.ts',
    "import '../../shared/src/clock/stamp.ts';",
    'no-restricted-imports',
  ],
  [
    'a test beside the packages enters none by a path',
    'tests/merge/a.test.ts',
    "import '../../packages/shared/src/clock/stamp.ts';",
    'no-restricted-imports',
  ],
  [
    'a test beside the packages enters no testing folder by a path',
    'tests/merge/b.test.ts',
    "import '../../packages/client/testing/browser-tabs.ts';",
    'no-restricted-imports',
  ],
  ['a library writes nothing to the console', 'packages/client/src/c.ts', "console.log('');", 'no-console'],
  [
    'two modules never need each other',
    'packages/client/src/cycle-a.ts',
    "import { b } from './cycle-b.ts'; export const a = () => b;",
    'no-cycle',
  ],
  [
    'two modules never need types of each other',
    'packages/client/src/type-cycle-a.ts',
    "import type { B } from './type-cycle-b.ts'; export interface A { readonly b: B | null }",
    'no-cycle',
  ],
  [
    'a promise is never left alone',
    'packages/client/src/d.ts',
    'const save = async () => {}; export const go = () => { save(); };',
    'no-floating-promises',
  ],
  [
    'a promise is never taken for a boolean',
    'packages/client/src/e.ts',
    'const isLeader = async () => true; export const go = () => { if (isLeader()) return 1; return 2; };',
    'no-misused-promises',
  ],
  ['there is no any', 'packages/client/src/f.ts', 'export const f = (row: any) => row;', 'no-explicit-any'],
  [
    'types are imported as types',
    'packages/client/src/g.ts',
    "import { A } from './types.ts'; export const f = (a: A) => a;",
    'consistent-type-imports',
  ],
  ['0 is never taken for null', 'packages/client/src/h.ts', 'export const f = (a: number | null) => a == 0;', 'eqeqeq'],
  [
    'no test runs alone',
    'packages/client/src/j.test.ts',
    "import { expect, it } from 'vitest'; it.only('a', () => expect(1).toBe(1));",
    'no-focused-tests',
  ],
  [
    'no test is left out',
    'packages/client/src/i.test.ts',
    "import { expect, it } from 'vitest'; it.skip('a', () => expect(1).toBe(1));",
    'no-disabled-tests',
  ],
];

/** @type {[file: string, code: string][]} the files that the snippets above import */
const beside = [
  ['packages/client/src/cycle-b.ts', "import { a } from './cycle-a.ts'; export const b = () => a;"],
  [
    'packages/client/src/type-cycle-b.ts',
    "import type { A } from './type-cycle-a.ts'; export interface B { readonly a: A | null }",
  ],
  ['packages/client/src/types.ts', 'export interface A { readonly id: number } export const a = 1;'],
];

/** @type {[file: string, code: string][]} */
const allowed = [
  ['packages/client/src/tab/ok.ts', "import '../rpc/worker-api.ts'; import '../client.ts'; import '@rockpool/shared';"],
  ['packages/client/src/worker/sync/ok.ts', "import '../../rpc/worker-api.ts'; import '@rockpool/vfs-opfs';"],
  [
    'packages/client/src/react/ok.ts',
    "import '../client.ts'; import '@rockpool/client'; import './use-live-query.ts'; import 'react';",
  ],
  ['packages/client/src/index.ts', "export { a } from './types.ts';"],
  ['packages/sync-server/src/cli.ts', "console.log('http://127.0.0.1'); import '@rockpool/shared';"],
  ['apps/demo-budget/src/ok.ts', "import '@rockpool/client/react'; import './money/parse.ts';"],
  ['apps/demo-budget/server/serve.ts', "import '@rockpool/sync-server';"],
  ['packages/shared/src/described.ts', `${'// Why.\n\n'.repeat(350)}export const one = 1;`],
  ['tests/kit/suite.test.ts', `export function suite(run) {\n${'  run();\n'.repeat(400)}}`],
  ['packages/sync-server/src/cli/config.ts', 'export const one = [0];\n'.concat('one.push(1);\n'.repeat(400))],
  ['packages/client/src/react/ok.browser.test.tsx', "import '../index.ts'; import '../testing/browser-tabs.ts';"],
  [
    'tests/convergence/ok.ts',
    "import '#client/worker/entry.ts'; import '#shared/index.ts'; import '#kit/until.ts'; import './other.ts';",
  ],
];

describe('the lint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-lint-'));
  /** @type {{ file: string, rule: string }[]} */
  let findings = [];

  beforeAll(() => {
    copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "target": "ES2023" } }');
    /** @type {[file: string, code: string][]} */
    const bad = refused.map(([, file, code]) => [file, code]);
    for (const [file, code] of [...bad, ...beside, ...allowed]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${code}\n`);
    }
    findings = lint(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(refused)('reports a violation of the rule: %s', (_, file, __, rule) => {
    expect(findings.filter((finding) => finding.file === file).map((finding) => finding.rule)).toContain(rule);
  });

  it('allows the permitted imports', () => {
    const files = new Set(allowed.map(([file]) => file));
    expect(findings.filter(({ file }) => files.has(file))).toEqual([]);
  });
});

/** @param {string} folder */
function lint(folder) {
  let report;
  try {
    report = execFileSync(process.execPath, [join(root, 'node_modules/oxlint/bin/oxlint'), '--format', 'json'], {
      cwd: folder,
      encoding: 'utf8',
    });
  } catch (error) {
    report = /** @type {{ stdout: string }} */ (error).stdout; // exits with 1 if it finds a problem
  }
  /** @type {{ diagnostics: { filename: string, code: string }[] }} */
  const { diagnostics } = JSON.parse(report);
  return diagnostics.map(({ filename, code }) => ({ file: filename, rule: code.replace(/^.*\(|\)$/g, '') }));
}
