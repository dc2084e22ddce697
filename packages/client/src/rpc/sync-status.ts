import type { ErrorData } from '@rockpool/shared';
import type { Persistence } from './persistence.ts';
import type { SnapshotProgress } from './snapshot-progress.ts';

/**
 * Where sync stands, by name:
 * - `opening`: the local database is being opened. With a reason: once more, because of it, such as `worker-stuck`, or
 *   what kept this tab from taking over
 * - `offline`: no connection; local work goes on. `reason` says why and is null when nobody asked for sync
 * - `connecting`: a connection is being made, or the server's state is being fetched; `waitingFor` says what is
 *   awaited. After two failures in a row the state stays
 *   `offline` while the next attempts run
 * - `pushing`: connected, and changesets are waiting for their outcome
 * - `up-to-date`: connected, nothing waits on either side
 * - `unavailable`: the server answers, but cannot serve this database now: `reason` is its error, such as
 *   `server-disk-full` or `database-damaged`. Local work goes on, and the next
 *   attempt comes by itself; the state stays until the server has answered what failed
 * - `needs-auth`: nobody is signed in, or the server refuses the token; local work goes on and is kept
 * - `blocked`: sync cannot go on by itself; `reason` says why
 * - `outdated`: another tab runs a newer version of the app. This tab can neither read nor write until it is reloaded;
 *   `reason` is `tab-outdated`
 * - `paused`: somebody has paused it; local work goes on, and nothing is sent or fetched until `sync.resume()`
 */
export type SyncState =
  | 'opening'
  | 'paused'
  | 'offline'
  | 'connecting'
  | 'pushing'
  | 'up-to-date'
  | 'unavailable'
  | 'needs-auth'
  | 'blocked'
  | 'outdated';

/**
 * Where a change can be held up while there is a connection:
 * - `delivery`: the server does not send what it has
 * - `outcome`: the server does not say what became of what was sent
 * - `apply`: what the server sent cannot be written here
 * - `audit`: rows differ from the server's, and replacing them did not help
 */
export type SyncStage = 'delivery' | 'outcome' | 'apply' | 'audit';

/**
 * What sync can wait for, in the order of a first sync. Each wait has a deadline, after which another way is taken or a
 * new attempt made.
 */
export type WaitStage =
  /** The app's `token` callback. */
  | 'token'
  /** The connection to open. */
  | 'socket'
  /** The server's answer to the hello. */
  | 'welcome'
  /** The first byte of the server's snapshot. */
  | 'snapshot-answer'
  /** The server is building the snapshot, and says so. */
  | 'snapshot-build'
  /** More bytes of the snapshot. */
  | 'snapshot-download'
  /** The snapshot to be unpacked and stored on this device. */
  | 'snapshot-store'
  /** What the server has that this device has not. */
  | 'delivery'
  /** The server's decision about what was sent. */
  | 'outcome';

export interface SyncWait {
  readonly stage: WaitStage;
  /** Wall time in ms since which nothing of it has come. */
  readonly sinceMs: number;
  /** Wall time in ms at which the wait is given up unless something comes. */
  readonly deadlineMs: number;
}

/**
 * What is tried next: a new connection, on which everything undecided is sent again; the server's whole state in the
 * place of what is here; a new worker, for which the app is asked (`worker-stuck`) where the database lies in memory
 * and would go with it.
 */
export type SyncRemedy = 'reconnect' | 'resend' | 'reload' | 'restart';

/** Sync has failed in one place several times in a row. */
export interface StuckStage {
  readonly stage: SyncStage;
  readonly times: number;
  /** Of the last time. */
  readonly error: ErrorData;
  readonly next: SyncRemedy;
}

/**
 * `leader`: this tab writes and syncs for all tabs. `follower`: it reads locally and sends its writes to the leader.
 * `none`: it takes no part, since it is opening, away, or outdated.
 */
export type TabRole = 'leader' | 'follower' | 'none';

/** What the user may want to know about sync, the same in every tab but for `role`. */
export interface SyncStatus {
  readonly state: SyncState;
  /** Changesets that the server has not decided yet. */
  readonly pendingCount: number;
  /** Changesets that were refused and wait for a decision of the user. */
  readonly rejectedCount: number;
  /**
   * The number of the last changeset that was sent on this connection, whether or not it is decided; null while there
   * is none.
   */
  readonly sentUpTo: number | null;
  readonly reason: ErrorData | null;
  /**
   * `app-outdated`: a newer version of the app has changed the database in a way that this one's statements do not fit.
   * It reads, its writes fail with this error, and sync goes on. Null: it may write.
   */
  readonly readOnly: ErrorData | null;
  /** What sync is waiting for right now; null while it waits for nothing, or for its next attempt. */
  readonly waitingFor: SyncWait | null;
  /** What does not move although there is a connection, and what is done about it; null as long as everything does. */
  readonly stuck: StuckStage | null;
  /** How far the server's whole state has come, which is on its way as a file; null while none is. */
  readonly snapshot: SnapshotProgress | null;
  /** Wall time in ms at which bytes last came from the server. */
  readonly lastContactMs: number | null;
  /** Where the database is kept; never changes behind the app's back. */
  readonly persistence: Persistence;
  readonly role: TabRole;
  /** How far the clock of this device is ahead of the server's, in ms; null before the first contact. */
  readonly clockOffsetMs: number | null;
  /**
   * That is a minute or more, either way. Nothing is lost or won by it, but what this device calls today may be wrong.
   */
  readonly clockWrong: boolean;
}

/** Before anything is known. Where the database is kept is known when the worker has answered. */
export const INITIAL_STATUS: Omit<SyncStatus, 'role'> = Object.freeze({
  state: 'opening',
  pendingCount: 0,
  rejectedCount: 0,
  sentUpTo: null,
  reason: null,
  readOnly: null,
  waitingFor: null,
  stuck: null,
  snapshot: null,
  lastContactMs: null,
  persistence: 'opfs',
  clockOffsetMs: null,
  clockWrong: false,
});

/**
 * A status on its way to a page. There are two ways, beside answers and by itself, and either may be the faster: what
 * has a lower number is old.
 */
export interface StatusUpdate {
  readonly number: number;
  readonly status: SyncStatus;
}
