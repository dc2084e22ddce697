import type { DocumentFigure } from '../documents/measure.ts';
import type { StoreName } from '../documents/store-name.ts';
import type { Sizes } from '../storage/dataset.ts';
import type { Dataset } from '../storage/fill.ts';
import type { Conditions } from '../storage/workload.ts';
import type { Latencies } from '../storage/workloads/latencies.ts';
import type { OpenRequest } from './host.ts';

/** The commands of the runner to its page. */
export interface BenchPage {
  /**
   * Opens a database. Resolves to the time in milliseconds, including the worker, SQLite and, if requested, the first
   * read.
   */
  open(request: OpenRequest, readsFirstRow: boolean): Promise<number>;
  fill(dataset: Dataset, sizes: Sizes, lacks: readonly string[]): Promise<void>;
  measure(workloadId: string, conditions: Conditions): Promise<number>;
  loop(part: 'write' | 'read', startAtMs: number): Promise<Latencies>;
  /** Only for a subject whose API is on the page. */
  liveQueries(): Promise<Latencies>;
  /** Runs in a separate worker, on separate databases. */
  measureDocuments(store: StoreName, file: string, sizeKiB: number): Promise<DocumentFigure[]>;
  close(): Promise<void>;
}
