import type { ErrorData } from '@rockpool/shared';
import type { Persistence } from './persistence.ts';

/**
 * Where sync stands, by name:
 * - `opening`: the local database is being opened
 * - `offline`: no connection; local work goes on. `reason` says why and is null when nobody asked for sync
 * - `connecting`: a connection is being made, or local state is being compared with the server's
 * - `pushing`: connected, and changesets are waiting for their outcome
 * - `up-to-date`: connected, nothing waits on either side
 * - `needs-auth`: the server refuses the token; local work goes on and is kept
 * - `blocked`: sync cannot go on by itself; `reason` says why
 */
export type SyncState = 'opening' | 'offline' | 'connecting' | 'pushing' | 'up-to-date' | 'needs-auth' | 'blocked';

/** `leader`: this tab writes and syncs for all tabs. `follower`: it reads locally and sends its writes to the leader. */
export type TabRole = 'leader' | 'follower';

/** What the user may want to know about sync, the same in every tab but for `role`. */
export interface SyncStatus {
  readonly state: SyncState;
  /** Changesets that the server has not decided yet. */
  readonly pendingCount: number;
  /** Changesets that were refused and wait for a decision of the user. */
  readonly parkedCount: number;
  readonly reason: ErrorData | null;
  /** Wall time in ms at which bytes last came from the server. */
  readonly lastContactMs: number | null;
  /** Where the database is kept; never changes behind the app's back. */
  readonly persistence: Persistence;
  readonly role: TabRole;
  /** How far the clock of this device is ahead of the server's, in ms; null before the first contact. */
  readonly clockOffsetMs: number | null;
  /** That is a minute or more, either way. Nothing is lost or won by it, but what this device calls today may be wrong. */
  readonly clockWrong: boolean;
}
