import type { Workload } from './workload.ts';
import { autocommitInsert, autocommitInsertFromPage } from './workloads/autocommit-insert.ts';
import { bulkInsert, hugeInsert } from './workloads/bulk-insert.ts';
import { groupByMonth } from './workloads/group-by.ts';
import { jsonBinaryFilter, jsonTextFilter } from './workloads/json-filter.ts';
import { pointRead, pointReadFromPage } from './workloads/point-read.ts';
import { randomUpdate } from './workloads/random-update.ts';
import { rowsToPage } from './workloads/rows-to-page.ts';
import { sumScanCold, sumScanWarm } from './workloads/sum-scan.ts';
import { fullTextMatch, likeScan } from './workloads/text-search.ts';

/** Each on a database of its own. */
export const ON_EMPTY_DATABASE: readonly (readonly Workload[])[] = [[bulkInsert], [autocommitInsert, autocommitInsertFromPage]];
/** Once, since it takes long. */
export const HUGE: Workload = hugeInsert;
/** In this order in one session after a cold open. */
export const ON_MAIN_DATABASE: readonly Workload[] = [sumScanCold, sumScanWarm, pointRead, pointReadFromPage, randomUpdate, jsonTextFilter];
export const ON_PEOPLE_DATABASE: readonly Workload[] = [rowsToPage, likeScan, fullTextMatch, groupByMonth, jsonBinaryFilter];

export const WORKLOADS: ReadonlyMap<string, Workload> = new Map(
  [...ON_EMPTY_DATABASE.flat(), HUGE, ...ON_MAIN_DATABASE, ...ON_PEOPLE_DATABASE].map((workload) => [workload.id, workload]),
);
