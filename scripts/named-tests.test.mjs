import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('..', import.meta.url);
const FOLDERS = ['apps', 'benchmarks', 'examples', 'packages', 'scripts', 'tests'];
const BUILT = /(^|\/)(node_modules|dist|\.rockpool)(\/|$)/;

/** @param {string} folder */
const filesIn = (folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => !BUILT.test(name))
    .map((name) => `/${folder}/${name}`);

const pages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  ...readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

it('every test that a page names exists', () => {
  expect(existsSync(new URL('docs/protocol.md', ROOT))).toBe(true);
  const files = FOLDERS.flatMap(filesIn);
  const named = pages.flatMap((page) =>
    [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/(?<![\w./-])\w[\w./-]*\.test\.(?:tsx?|mjs)\b/g)].map(
      ([name]) => `${page}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((one) => !files.some((file) => file.endsWith(`/${one.split(': ')[1]}`)))).toEqual([]);
});

it('every source file that a page names exists', () => {
  const files = FOLDERS.flatMap(filesIn);
  const named = pages.flatMap((page) =>
    [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/`([\w-]+(?:\/[\w.-]+)+\.(?:tsx?|mjs))`/g)].map(
      ([, name]) => ({
        page,
        name,
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

it('every section on the protocol except the glossary names its test', () => {
  const [, ...sections] = readFileSync(new URL('docs/protocol.md', ROOT), 'utf8').split(/^## /m);
  expect(
    sections
      .filter((section) => !section.startsWith('Terms') && !section.includes('.test.ts'))
      .map((section) => section.split('\n')[0]),
  ).toEqual([]);
});
