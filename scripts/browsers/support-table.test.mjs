import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { resultOf, supportTable, withTable } from './support-table.mjs';

const read = (/** @type {string} */ path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('docs/browser-support.md shows the results of the last recorded run', () => {
  const document = read('docs/browser-support.md');
  expect(withTable(document, supportTable(JSON.parse(read('docs/browser-support.json'))))).toBe(document);
});

it('a report becomes a column: passed, failed and refused media, and capabilities with the exceptions they threw', () => {
  const test = (/** @type {string} */ medium, /** @type {string} */ title, /** @type {string} */ status) => ({
    ancestorTitles: [medium],
    title,
    status,
  });
  const report = {
    testResults: [
      {
        status: 'failed',
        assertionResults: [
          test('A', 'x', 'passed'),
          test('A', 'y', 'failed'),
          test('B', 'x', 'passed'),
          test('C', 'is refused with storage-unsupported', 'passed'),
          {
            ...test('this browser', 'says what it has', 'passed'),
            meta: { capabilities: { locks: true, files: 'SecurityError', moves: false } },
          },
        ],
      },
    ],
  };
  expect(supportTable([resultOf('Some 1.0', report)]).split('\n')).toEqual([
    '|  | Some 1.0 |',
    '| --- | --- |',
    '| locks | yes |',
    '| files | throws SecurityError |',
    '| moves | no |',
    '| **A**: the contract | 1 of 2 fail |',
    '| **B**: the contract | all 1 pass |',
    '| **C**: the contract | refused, with a typed error |',
  ]);
});
