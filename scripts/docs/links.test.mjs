import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../children.mjs';

const pages = globSync(['*.md', '{apps,packages}/*/*.md', 'benchmarks/*.md', 'docs/**/*.md'], {
  cwd: root,
  exclude: (name) => name.includes('node_modules'),
});

const withoutCode = (/** @type {string} */ text) => text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');

/** @param {string} heading as Markdown */
function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** @type {Map<string, Set<string>>} */
const known = new Map();

/** @param {string} page */
function anchorsOf(page) {
  let anchors = known.get(page);
  if (anchors !== undefined) return anchors;
  const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '');
  anchors = new Set(
    [...text.matchAll(/^#{1,6} (.+?)(?: \{#([\w-]+)\})?$/gm)].map(([, heading = '', id]) => id ?? slug(heading)),
  );
  known.set(page, anchors);
  return anchors;
}

it('every link in the documentation leads to a file and a heading', () => {
  const dead = [];
  let count = 0;
  for (const page of pages) {
    for (const [, href = ''] of withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^\w+:/.test(href)) continue;
      count++;
      const [path = '', anchor] = href.split('#');
      const target = path === '' ? page : path.startsWith('/') ? join('docs', path) : join(dirname(page), path);
      const isThere = existsSync(join(root, target));
      if (!isThere || (anchor !== undefined && !anchorsOf(target).has(anchor))) dead.push(`${page}: ${href}`);
    }
  }
  expect(count).toBeGreaterThan(100);
  expect(dead).toEqual([]);
});
