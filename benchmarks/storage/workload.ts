import type { Operations } from './operations.ts';
import type { Sizes } from './dataset.ts';

export type Unit = 'ms' | 'µs' | 's' | 'bytes' | '1/s';

/** The inputs of a workload besides the database. */
export interface Conditions {
  readonly sizes: Sizes;
  /** Differs in every round, so that no subject finds the same rows in its caches. */
  readonly seed: number;
}

/**
 * One line of the table. `measure` runs where `thread` says: beside the database (in its worker, or on the page for a
 * subject whose API lives there), or on the page, through one message per call. It throws if a result is wrong, because
 * its figure would be meaningless.
 */
export interface Workload {
  /** The id in the JSON and the table. */
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly thread: 'database' | 'page';
  /** Number of consecutive runs in each round. Default 1. */
  readonly repeats?: number;
  /** True when the first run of a session is a warm-up that does not count. */
  readonly isWarm?: boolean;
  measure(operations: Operations, conditions: Conditions): Promise<number>;
}

/** Throws unless both are equal: every subject must do the same work. */
export function expectEqual(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`);
}
