import type { ErrorData } from '@rockpool/shared';

/**
 * How far a change of this device has come:
 * - `pending`: it is committed here
 * - `sent`: it is on its way, or the server has it and its outcome is on its way
 * - `admitted`: the server has it for good, and tells everybody
 * - `parked`: it was refused and waits for the user; or it stands against other rows here, and the server has yet to say its word
 */
export type ChangeStage = 'pending' | 'sent' | 'admitted' | 'parked';

/** One transaction of this device that changed the row. */
export interface RowChange {
  /** Names it for `parked.retry` and `parked.drop`. */
  readonly sequence: number;
  /** Wall time in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly stage: ChangeStage;
  /** Of a parked one. */
  readonly reason: ErrorData | null;
}

/** Where the changes of one row are. */
export interface RowWhereabouts {
  /**
   * The least of what its changes have come to: `parked`, `pending`, `sent` or `admitted`. Where this device has changed nothing in it for a
   * week: `delivered` if the row is there, else `none`.
   */
  readonly stage: ChangeStage | 'delivered' | 'none';
  /** Oldest first; admitted ones of the last week. */
  readonly changes: readonly RowChange[];
  /** Ids in the conflict ledger, oldest first: what concurrent writes lost in this row. */
  readonly conflicts: readonly string[];
}

/** Who reads the database does not know what is on its way: changes up to this number are. */
export function withSent(whereabouts: RowWhereabouts, sentUpTo: number): RowWhereabouts {
  const changes = whereabouts.changes.map((change): RowChange => (change.stage === 'pending' && change.sequence <= sentUpTo ? { ...change, stage: 'sent' } : change));
  return { ...whereabouts, changes, stage: leastStage(changes) ?? whereabouts.stage };
}

export function leastStage(changes: readonly RowChange[]): ChangeStage | undefined {
  return (['parked', 'pending', 'sent', 'admitted'] as const).find((stage) => changes.some((change) => change.stage === stage));
}
