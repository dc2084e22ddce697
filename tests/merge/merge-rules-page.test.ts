import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * docs/merge-rules.md names, in the last cell of every row and elsewhere, the tests that hold it:  `row.test.ts`:
 * "name", "beginning of a name…"; `other.test.ts`: "name"
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

function namedTests(cell: string): { readonly file: string; readonly names: readonly string[] }[] {
  return [...cell.matchAll(/`([\w.-]+\.(?:test|contract)\.ts)`:([^`]*)/g)].map(([, file, rest]) => ({
    file: file as string,
    names: [...(rest as string).matchAll(/"([^"]+)"/g)].map(([, name]) => name as string),
  }));
}

describe('the page of merge rules', () => {
  it('names a test in every row', () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const { line, cells } of rows)
      expect(
        namedTests(cells.at(-1) ?? '').flatMap(({ names }) => names),
        line,
      ).not.toEqual([]);
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

  it('and the page of values name only existing tests', () => {
    const named = namedTests(page);
    expect(named.length).toBeGreaterThan(rows.length);
    const ofValues = namedTests(valuesPage);
    expect(ofValues.length).toBeGreaterThan(5);
    named.push(...ofValues);
    for (const { file, names } of named) {
      const sources = (sourcesByName.get(file) ?? []).map((path) => readFileSync(root + path, 'utf8'));
      for (const name of names) {
        const [text, isWhole] = name.endsWith('…') ? [name.slice(0, -1), false] : [name, true];
        expect(
          sources.some((source) =>
            ["'", '"', '`'].some((quote) => source.includes(quote + text + (isWhole ? quote : ''))),
          ),
          `${file}: ${name}`,
        ).toBe(true);
      }
    }
  });
});
