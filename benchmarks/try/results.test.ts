import { expect, it } from 'vitest';
import type { Workload } from '../storage/workload.ts';
import { WORKLOADS } from '../storage/workloads.ts';
import { asMarkdown, cell, figuresOf } from './results.ts';
import { PARTS } from './subjects.ts';

const SUM = { id: 'L4w', title: 'SUM', unit: 'ms' } as Workload;

it('the results table shows medians with minimum and maximum, and no figures for a subject with a wrong result', () => {
  const figures = figuresOf(
    [
      { workload: 'L4w', subject: 'Rockpool', value: 3 },
      { workload: 'L4w', subject: 'Rockpool', value: 1 },
      { workload: 'L4w', subject: 'Rockpool', value: 2.5 },
      { workload: 'L3', subject: 'Rockpool', value: 100 },
      { workload: 'L4w', subject: 'sqlite.org', value: 5 },
      {
        workload: 'L4w',
        subject: 'sqlite.org',
        value: null,
        error: 'Error: Error: sum: 1 instead of 2\n    at measure',
      },
    ],
    SUM,
  );
  expect(figures.map((figure) => cell(figure, 'ms'))).toEqual(['2.5 ms (1–3)', 'failed: sum: 1 instead of 2', '–']);
  const once = figuresOf([{ workload: 'L4w', subject: 'Rockpool', value: 7 }], SUM);
  expect(once.map((figure) => cell(figure, 'ms'))).toEqual(['7 ms', '–', '–']);
  expect(asMarkdown([{ title: 'a | b', unit: 'ms', figures }], 'Chromium')).toBe(
    'Chromium\n\n| workload | Rockpool | sqlite.org | IndexedDB |\n| --- | --- | --- | --- |\n| a \\| b | 2.5 ms (1–3) | failed: sum: 1 instead of 2 | – |\n',
  );
});

it('the worker knows every workload of the page', () => {
  const unknown = PARTS.flatMap(({ workloads }) => workloads).filter(({ id }) => !WORKLOADS.has(id));
  expect(unknown.map(({ title }) => title)).toEqual([]);
});
