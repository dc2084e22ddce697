import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceFiles } from './tests/test-files.mjs';

const ROOT = new URL('..', import.meta.url);

/** The paths of all source files, and the ends of these paths, by which pages name them. */
const ends = new Set(
  sourceFiles().flatMap((file) => {
    const parts = file.split('/');
    return parts.map((_, from) => parts.slice(from).join('/'));
  }),
);

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
  const named = pages.flatMap((page) =>
    [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/(?<![\w./-])\w[\w./-]*\.test\.(?:tsx?|mjs)\b/g)].map(
      ([name]) => `${page}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((one) => !ends.has(one.split(': ')[1] ?? ''))).toEqual([]);
});

it('every source file that a page names exists', () => {
  const named = pages.flatMap((page) =>
    [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/`([\w-]+(?:\/[\w.-]+)+\.(?:tsx?|mjs))`/g)].map(
      ([, name]) => ({
        page,
        name,
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name = '' }) => !ends.has(name))).toEqual([]);
});

it('every section on the protocol except the glossary names its test', () => {
  const [, ...sections] = readFileSync(new URL('docs/protocol.md', ROOT), 'utf8').split(/^## /m);
  expect(
    sections
      .filter((section) => !section.startsWith('Terms') && !section.includes('.test.ts'))
      .map((section) => section.split('\n')[0]),
  ).toEqual([]);
});
