import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/*
 * The rules of two pages have ids, which the titles of their tests cite: [MR-07] is a rule of docs/merge-rules.md,
 * [VK-03] one of docs/values.md.
 */

const root = new URL('../../', import.meta.url).pathname;
const sources = globSync('{packages/*/src,tests}/**/*.{test,contract}.ts', { cwd: root }).map((path) =>
  readFileSync(root + path, 'utf8'),
);

const ID = /\b(?:MR|VK)-\d\d\b/g;
const cited = new Set(
  sources
    .flatMap((source) => [...source.matchAll(/(?:\[[A-Z]{2}-[\w-]+\] ?)+(?=['"`])/g)])
    .flatMap(([ids]) => ids.match(ID) ?? []),
);

describe.each([
  { page: 'merge-rules', prefix: 'MR', least: 70 },
  { page: 'values', prefix: 'VK', least: 9 },
])('the page docs/$page.md', ({ page, prefix, least }) => {
  const text = readFileSync(`${root}docs/${page}.md`, 'utf8');
  const cells = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|')[1]?.trim() ?? '');
  /** Ids where a rule is stated: the first cell of a row, or brackets after a sentence. */
  const stated = [
    ...cells.filter((cell) => cell.startsWith(`${prefix}-`)),
    ...[...text.matchAll(/(?<!`)\[([A-Z]{2}-\d\d)\]/g)].map(([, id]) => id as string),
  ];

  it('gives every rule its own id', () => {
    expect(stated.length).toBeGreaterThan(least);
    expect(stated.filter((id) => !/^(MR|VK)-\d\d$/.test(id))).toEqual([]);
    expect(stated.filter((id, at) => stated.indexOf(id) !== at)).toEqual([]);
  });

  it('has a test for every rule, and a rule for every id that a test cites', () => {
    expect(stated.filter((id) => !cited.has(id))).toEqual([]);
    expect([...cited].filter((id) => id.startsWith(prefix) && !stated.includes(id))).toEqual([]);
  });

  it('has a cell for every column in every row', () => {
    const wrong = text.split('\n\n').flatMap((block) => {
      const [head, ...others] = block
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) => ({ line, cells: line.split('|').length }));
      return others.filter((row) => row.cells !== head?.cells);
    });
    expect(wrong).toEqual([]);
  });
});

it('every row of the merge rules begins with an id', () => {
  const lines = readFileSync(`${root}docs/merge-rules.md`, 'utf8').split('\n');
  const tables = lines.flatMap((line, at) =>
    line.startsWith('|---') ? [{ head: lines[at - 1] ?? '', from: at + 1 }] : [],
  );
  // One table lists the columns of the conflict log.
  const rules = tables.filter(({ head }) => !head.startsWith('| column |'));
  expect(tables).toHaveLength(rules.length + 1);
  const rows = rules.flatMap(({ from }) =>
    lines.slice(
      from,
      lines.findIndex((line, at) => at >= from && !line.startsWith('|')),
    ),
  );
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((line) => !/^\| MR-\d\d \|/.test(line))).toEqual([]);
});
