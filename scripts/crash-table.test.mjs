import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (/** @type {string} */ path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/**
 * The rows of the tables in docs/storage.md whose head's last cell is this, without the head.
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

const tests = new Map(
  rows('test').map(([name = '', file = '', title = '']) => [name, { file: file.replaceAll('`', ''), title }]),
);

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

it('every test that the crash table lists exists, and shows something', () => {
  const used = new Set(rows('shown by').flatMap((row) => row.at(-1)?.split(', ') ?? []));
  for (const [name, { file, title }] of tests) {
    expect(used, name).toContain(name);
    expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
    expect(read(file), name).toContain(title);
  }
});
