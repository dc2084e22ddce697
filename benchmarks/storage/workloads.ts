import type { Dataset } from './fill.ts';
import type { Workload } from './workload.ts';
import { autocommitInsert, autocommitInsertFromPage } from './workloads/autocommit-insert.ts';
import { bulkInsert, bulkInsertFromPage, hugeInsert, insertsFromPage } from './workloads/bulk-insert.ts';
import { ENTRY_QUERIES } from './workloads/entry-queries.ts';
import { groupByMonth } from './workloads/group-by.ts';
import { jsonBinaryFilter, jsonTextFilter } from './workloads/json-filter.ts';
import { pointRead, pointReadFromPage } from './workloads/point-read.ts';
import { randomUpdate, randomUpdateFromPage } from './workloads/random-update.ts';
import { rowsToPage } from './workloads/rows-to-page.ts';
import { selectAll, selectAllAgain } from './workloads/select-all.ts';
import { sumScanCold, sumScanWarm } from './workloads/sum-scan.ts';
import { fullTextMatch, likeScan } from './workloads/text-search.ts';

/** The workloads of each database, in order. */
export interface Plan {
  /** A prefix of the workload ids, if several plans share the workloads. */
  readonly prefix: string;
  /** Maximum number of rounds. */
  readonly rounds: number;
  /** No round starts that would exceed this time. */
  readonly withinMinutes: number;
  /** Lists of workloads, each on a new, empty database in every round. */
  readonly onEmpty: readonly (readonly Workload[])[];
  /** Parts, each on a database that is filled once and opened in a new browser in every round. */
  readonly onFilled: readonly FilledPart[];
  /** Whether the plan has L8w and L8r: one tab writes, another reads. */
  readonly withTwoTabs: boolean;
  /** Whether the plan has LF: one tab writes, two read. */
  readonly withThreeTabs?: boolean;
  /** Workloads that run once on a new, empty database, because they take long. */
  readonly once: readonly Workload[];
  /** Whether the plan has live queries, for the subjects that support them. */
  readonly withLiveQueries: boolean;
}

export interface FilledPart {
  readonly dataset: Dataset;
  readonly workloads: readonly Workload[];
  /** The id under which the time from opening to the first row is recorded. */
  readonly coldOpenId?: string;
}

export const FILE_PLAN: Plan = {
  prefix: '',
  rounds: 3,
  withinMinutes: 9.5,
  onEmpty: [[bulkInsert], [autocommitInsert, autocommitInsertFromPage]],
  onFilled: [
    {
      dataset: 'main',
      workloads: [sumScanCold, sumScanWarm, pointRead, pointReadFromPage, randomUpdate, jsonTextFilter],
      coldOpenId: 'L1',
    },
    { dataset: 'reports', workloads: [rowsToPage, likeScan, fullTextMatch, groupByMonth, jsonBinaryFilter] },
  ],
  withTwoTabs: true,
  once: [hugeInsert],
  withLiveQueries: false,
};

/**
 * The workloads of the articles on SQLite over IndexedDB: inserts, a sum over a key-value table, a million rows
 * inserted and selected twice.
 */
export const INDEXEDDB_PLAN: Plan = {
  prefix: 'LI-',
  rounds: 3,
  withinMinutes: 4,
  onEmpty: [[bulkInsert], [autocommitInsert]],
  onFilled: [{ dataset: 'values', workloads: [sumScanCold, sumScanWarm] }],
  withTwoTabs: false,
  once: [hugeInsert, selectAll, selectAllAgain],
  withLiveQueries: false,
};

/** Workloads comparable with direct use of IndexedDB, in browsers without shared access handles. */
const BESIDE_INDEXEDDB: Omit<Plan, 'prefix'> = {
  rounds: 3,
  withinMinutes: 0.75,
  onEmpty: [[bulkInsert], [autocommitInsert]],
  onFilled: [{ dataset: 'values', workloads: [sumScanCold, sumScanWarm, pointRead] }],
  withTwoTabs: false,
  withThreeTabs: true,
  once: [],
  withLiveQueries: false,
};
export const FIREFOX_PLAN: Plan = { prefix: 'LF-', ...BESIDE_INDEXEDDB };
export const WEBKIT_PLAN: Plan = { prefix: 'LW-', ...BESIDE_INDEXEDDB };

/** Performance as an app's page sees it: every call starts and ends on the page. */
export const CLIENT_PLAN: Plan = {
  prefix: 'C-',
  rounds: 3,
  withinMinutes: 15,
  onEmpty: [[insertsFromPage], [autocommitInsertFromPage], [bulkInsertFromPage]],
  onFilled: [
    { dataset: 'values', workloads: [pointReadFromPage, randomUpdateFromPage], coldOpenId: 'L1' },
    { dataset: 'people', workloads: [rowsToPage] },
  ],
  withTwoTabs: true,
  once: [],
  withLiveQueries: true,
};

/** The workloads of all plans, and those that only the page of `npm run bench:page` runs. */
export const WORKLOADS: ReadonlyMap<string, Workload> = new Map(
  [
    ...[FILE_PLAN, INDEXEDDB_PLAN, FIREFOX_PLAN, WEBKIT_PLAN, CLIENT_PLAN].flatMap(({ onEmpty, onFilled, once }) => [
      ...onEmpty.flat(),
      ...onFilled.flatMap(({ workloads }) => workloads),
      ...once,
    ]),
    ...ENTRY_QUERIES,
  ].map((workload) => [workload.id, workload]),
);
