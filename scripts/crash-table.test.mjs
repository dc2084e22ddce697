import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from './children.mjs';

const read = (/** @type {string} */ path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/**
 * The rows, without header rows, of the tables in docs/storage.md whose last column has this header.
 *
 * @param {string} lastHead
 */
function rows(lastHead) {
  const tables = read('docs/storage.md')
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  const wanted = tables
    .map((table) =>
      table.map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    )
    .filter((table) => table[0]?.at(-1) === lastHead);
  return wanted.flatMap((table) => table.slice(2));
}

/** The file of each test, by the id that its title cites. */
const tests = new Map(rows('file').map(([id = '', file = '']) => [id, file.replaceAll('`', '')]));

it('every row of the crash table names tests that are listed below it', () => {
  const shown = rows('shown by');
  expect(shown.length).toBeGreaterThan(20);
  for (const row of shown) {
    const names = row.at(-1)?.split(', ') ?? [];
    expect(
      names.filter((name) => !tests.has(name)),
      row[0],
    ).toEqual([]);
  }
});

it('every test that the crash table lists exists, cites its id, and belongs to a row', () => {
  const used = new Set(rows('shown by').flatMap((row) => row.at(-1)?.split(', ') ?? []));
  for (const [id, file] of tests) {
    expect(used, id).toContain(id);
    expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
    expect(read(file), id).toMatch(new RegExp(`\\[CT-${id}\\](?: \\[[\\w-]+\\])*['"\`]`));
  }
});

it('every crash-table id that a test cites is in the table', () => {
  const cited = globSync('{packages/*,tests}/**/*.{test,contract}.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
    .flatMap((file) => [...read(file).matchAll(/\[CT-([\w-]+)\]/g)])
    .map(([, id]) => id ?? '');
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter((id) => !tests.has(id))).toEqual([]);
});
