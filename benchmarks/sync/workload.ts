import type { SyncSubject } from './engines.ts';

export interface SyncSizes {
  readonly firstSyncRows: number;
  readonly backlogRows: number;
  readonly liveWrites: number;
  readonly fanOutClients: readonly number[];
  readonly fanOutWrites: number;
}

export const FULL_SIZES: SyncSizes = {
  firstSyncRows: 100_000,
  backlogRows: 10_000,
  liveWrites: 200,
  fanOutClients: [100, 500],
  fanOutWrites: 100,
};
export const QUICK_SIZES: SyncSizes = {
  firstSyncRows: 3_000,
  backlogRows: 1_000,
  liveWrites: 30,
  fanOutClients: [20],
  fanOutWrites: 20,
};

/** One figure: the workload's id, its value, its unit. */
export type Figure = readonly [workload: string, value: number, unit: string];

/** One kind of measurement, with a new server and new processes each time. */
export interface SyncWorkload {
  readonly id: string;
  /** Maximum number of runs; a long workload need not be repeated. */
  readonly rounds: number;
  run(subject: SyncSubject, sizes: SyncSizes): Promise<readonly Figure[]>;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
