import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import config from '../../docs/.vitepress/config.mjs';
import { root } from '../children.mjs';

/** @type {{ text: string, items: { link: string }[] }[]} */
const sections = /** @type {any} */ (config.themeConfig)?.sidebar ?? [];

it('every page of the site has one place in the navigation; decisions have their index', () => {
  const pages = globSync('**/*.md', { cwd: join(root, 'docs') })
    .filter((page) => page !== 'index.md' && !/^decisions\/\d/.test(page))
    .map((page) => `/${page.replace(/(index)?\.md$/, '')}`);
  expect(pages.length).toBeGreaterThan(15);
  expect(sections.flatMap(({ items }) => items.map(({ link }) => link)).sort()).toEqual(pages.sort());
});

it('the navigation leads from reasons, quick start and concepts to guides, operations, reference and decisions', () => {
  expect(sections.map(({ text }) => text)).toEqual(['Start', 'Guides', 'Operations', 'Reference', 'Design']);
  expect(sections[0]?.items.map(({ link }) => link)).toEqual(['/why', '/quick-start', '/concepts']);
});
