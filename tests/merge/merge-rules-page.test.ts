import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * Rules of docs/merge-rules.md have ids, and the titles of the tests that hold a rule cite it: [MR-07]. docs/values.md
 * names its tests by file and title:  `values.test.ts`: "name", "beginning of a name…"
 */

const page = readFileSync(new URL('../../docs/merge-rules.md', import.meta.url), 'utf8');
const valuesPage = readFileSync(new URL('../../docs/values.md', import.meta.url), 'utf8');
const root = new URL('../../', import.meta.url).pathname;
const sourcesByName = Map.groupBy(globSync('{packages/*/src,tests}/**/*.{test,contract}.ts', { cwd: root }), (path) =>
  basename(path),
);

interface Row {
  readonly line: string;
  readonly cells: readonly string[];
}

/** The rows of all tables, without header rows. */
const rows: Row[] = page
  .split('\n')
  .filter(
    (line, at, lines) => line.startsWith('|') && !line.startsWith('|---') && lines[at + 1]?.startsWith('|---') !== true,
  )
  .map((line) => ({
    line,
    cells: line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  }));

const ID = /\bMR-\d\d\b/g;
/** Ids where a rule is stated: the first cell of a row, or brackets after a sentence. */
const stated = [
  ...rows.map(({ cells }) => cells[0] ?? ''),
  ...[...page.matchAll(/\[(MR-\d\d)\]/g)].map(([, id]) => id as string),
];
const titles = [...sourcesByName.values()]
  .flat()
  .flatMap((path) => [...readFileSync(root + path, 'utf8').matchAll(/(?:\[MR-\d\d\] ?)+(?=['"`])/g)])
  .map(([cited]) => cited);

function namedTests(text: string): { readonly file: string; readonly names: readonly string[] }[] {
  return [...text.matchAll(/`([\w.-]+\.(?:test|contract)\.ts)`:([^`]*)/g)].map(([, file, rest]) => ({
    file: file as string,
    names: [...(rest as string).matchAll(/"([^"]+)"/g)].map(([, name]) => name as string),
  }));
}

describe('the page of merge rules', () => {
  it('gives every rule an id of its own', () => {
    expect(stated.length).toBeGreaterThan(70);
    expect(stated.filter((id) => !/^MR-\d\d$/.test(id))).toEqual([]);
    expect(stated.filter((id, at) => stated.indexOf(id) !== at)).toEqual([]);
  });

  it('has a test for every rule, and a rule for every id that a test cites', () => {
    const cited = new Set(titles.flatMap((title) => title.match(ID) ?? []));
    expect(stated.filter((id) => !cited.has(id))).toEqual([]);
    expect([...cited].filter((id) => !stated.includes(id))).toEqual([]);
  });

  it('has a cell for every column in every row', () => {
    const wrong = page.split('\n\n').flatMap((block) => {
      const [head, ...others] = block
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) => ({ line, cells: line.split('|').length }));
      return others.filter(({ cells }) => cells !== head?.cells);
    });
    expect(wrong).toEqual([]);
  });
});

it('the page of values names only existing tests', () => {
  const named = namedTests(valuesPage);
  expect(named.length).toBeGreaterThan(5);
  for (const { file, names } of named) {
    const sources = (sourcesByName.get(file) ?? []).map((path) => readFileSync(root + path, 'utf8'));
    for (const name of names) {
      const [text, isWhole] = name.endsWith('…') ? [name.slice(0, -1), false] : [name, true];
      expect(
        // A title may end with the ids of the merge rules that it holds.
        sources.some((source) =>
          ["'", '"', '`'].some(
            (quote) =>
              source.includes(quote + text + (isWhole ? quote : '')) || source.includes(`${quote}${text} [MR-`),
          ),
        ),
        `${file}: ${name}`,
      ).toBe(true);
    }
  }
});
