import type { AdapterName } from '../storage/subjects.ts';
import type { Workload } from '../storage/workload.ts';
import { bulkInsert } from '../storage/workloads/bulk-insert.ts';
import { autocommitInsert } from '../storage/workloads/autocommit-insert.ts';
import { countEntries, largestEntries, sumByCity, sumOfCategory } from '../storage/workloads/entry-queries.ts';
import { groupByMonth } from '../storage/workloads/group-by.ts';
import { jsonTextFilter } from '../storage/workloads/json-filter.ts';
import { pointRead } from '../storage/workloads/point-read.ts';
import { randomUpdate } from '../storage/workloads/random-update.ts';
import { rowsToPage } from '../storage/workloads/rows-to-page.ts';
import { sumScanWarm } from '../storage/workloads/sum-scan.ts';
import { likeScan } from '../storage/workloads/text-search.ts';
import type { Dataset } from '../storage/fill.ts';

export interface TrySubject {
  readonly name: string;
  readonly adapter: AdapterName;
  /** The colour of the bars and of the column's head. */
  readonly colour: string;
}

export const SUBJECTS: readonly TrySubject[] = [
  { name: 'Rockpool', adapter: 'rockpool', colour: '#0b6e75' },
  { name: 'sqlite.org', adapter: 'sqlite-wasm', colour: '#c2762b' },
  { name: 'IndexedDB', adapter: 'raw-indexeddb', colour: '#7a6ba8' },
];

/** Each subject fills a new database of every kind in every round, and runs these workloads on it. */
export const PARTS: readonly { readonly dataset: Dataset; readonly workloads: readonly Workload[] }[] = [
  { dataset: 'empty', workloads: [bulkInsert, autocommitInsert] },
  { dataset: 'main', workloads: [pointRead, randomUpdate, sumScanWarm, jsonTextFilter] },
  {
    dataset: 'reports',
    workloads: [rowsToPage, countEntries, sumOfCategory, groupByMonth, largestEntries, sumByCity, likeScan],
  },
];

/** The numbers of rows in titles, mapped to those of a run with a tenth of the data, which cannot exceed its rows. */
const TENTHS: Readonly<Record<string, string>> = {
  '300,000': '30,000',
  '100,000': '10,000',
  '50,000': '10,000',
  '20,000': '2,000',
};

/** The title of a workload with the numbers of the chosen size. */
export function titleOf({ title }: Workload, isFull: boolean): string {
  return isFull ? title : title.replaceAll(/\d+,000/g, (rows) => TENTHS[rows] ?? rows);
}
