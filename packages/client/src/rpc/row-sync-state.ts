import type { ErrorData } from '@rockpool/shared';

/**
 * How far a change of this device has come:
 * - `pending`: committed on this device
 * - `sent`: sent to the server, which has not sent the outcome yet
 * - `admitted`: admitted by the server, which delivers it to others
 * - `rejected`: rejected by the server and waiting for the user, or in conflict with rows of this device while the
 *   server has not decided yet
 */
export type ChangeStage = 'pending' | 'sent' | 'admitted' | 'rejected';

/** A transaction of this device that changed the row. */
export interface ChangeSyncState {
  /** Identifies the changeset for `rejected.retry` and `rejected.drop`. */
  readonly sequence: number;
  /** Wall time in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly stage: ChangeStage;
  /** Why it was rejected; null in every other stage. */
  readonly reason: ErrorData | null;
}

/** How far the changes to one row have come. */
export interface RowSyncState {
  /**
   * The least advanced stage among its changes, in the order `rejected`, `pending`, `sent`, `admitted`. If this device
   * has not changed the row for a week: `delivered` if the row exists, else `none`.
   */
  readonly stage: ChangeStage | 'delivered' | 'none';
  /**
   * Oldest first. Includes changes that were admitted in the last week, except those with more than 5,000 newer
   * changesets.
   */
  readonly changes: readonly ChangeSyncState[];
  /** Ids of the row's entries in the conflict log, oldest first. */
  readonly conflicts: readonly string[];
}

/**
 * Marks pending changes up to this sequence as sent. The database itself does not record which changesets are being
 * sent.
 */
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
