import type { ErrorData } from '@rockpool/shared';

/**
 * How far a change of this device has come:
 * - `pending`: it is committed here
 * - `sent`: it is on its way, or the server has it and its outcome is on its way
 * - `admitted`: the server has it for good, and tells everybody
 * - `rejected`: it was refused and waits for the user; or it stands against other rows here, and the server has yet to
 *   say its word
 */
export type ChangeStage = 'pending' | 'sent' | 'admitted' | 'rejected';

/** One transaction of this device that changed the row. */
export interface ChangeSyncState {
  /** Names it for `rejected.retry` and `rejected.drop`. */
  readonly sequence: number;
  /** Wall time in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly stage: ChangeStage;
  /** Of a rejected one. */
  readonly reason: ErrorData | null;
}

/** Where the changes of one row are. */
export interface RowSyncState {
  /**
   * The least of what its changes have come to: `rejected`, `pending`, `sent` or `admitted`. Where this device has
   * changed nothing in it for a week: `delivered` if the row is there, else `none`.
   */
  readonly stage: ChangeStage | 'delivered' | 'none';
  /** Oldest first; admitted ones of the last week. */
  readonly changes: readonly ChangeSyncState[];
  /** Ids in the conflict log, oldest first: what concurrent writes lost in this row. */
  readonly conflicts: readonly string[];
}

/** Who reads the database does not know what is on its way: changes up to this number are. */
export function withSent(rowSyncState: RowSyncState, sentUpTo: number): RowSyncState {
  const changes = rowSyncState.changes.map((change): ChangeSyncState =>
    change.stage === 'pending' && change.sequence <= sentUpTo ? { ...change, stage: 'sent' } : change,
  );
  return { ...rowSyncState, changes, stage: leastStage(changes) ?? rowSyncState.stage };
}

export function leastStage(changes: readonly ChangeSyncState[]): ChangeStage | undefined {
  return (['rejected', 'pending', 'sent', 'admitted'] as const).find((stage) =>
    changes.some((change) => change.stage === stage),
  );
}
