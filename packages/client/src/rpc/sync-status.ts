import type { ErrorData } from '@rockpool/shared';
import type { Persistence } from './persistence.ts';
import type { SnapshotProgress } from './snapshot-progress.ts';

/**
 * The state of sync:
 * - `opening`: the local database is being opened. With a `reason`, it is opened again after that error: the worker was
 *   replaced (`worker-stuck`), or this tab could not take over as leader or resume
 * - `offline`: not connected; local work continues. `reason` says why, and is null if the client has no server
 * - `connecting`: a connection is being opened, or the server's snapshot fetched; `waitingFor` names the current
 *   wait.
 *   After two failures in a row the state stays `offline` during further attempts
 * - `pushing`: connected, with changesets waiting for their outcome
 * - `up-to-date`: connected, with nothing pending on either side
 * - `unavailable`: the server answers but cannot serve this database now; `reason` is its error, such as
 *   `server-disk-full` or `database-damaged`. Local work continues and Rockpool retries. The state lasts until the
 *   server answers the request that failed
 * - `needs-auth`: no user is signed in, or the server rejects the token; local work continues and is kept
 * - `blocked`: sync cannot continue without help; `reason` says why
 * - `outdated`: another tab runs a newer version of the app. This tab can neither read nor write until it reloads;
 *   `reason` is `tab-outdated`
 * - `paused`: the app paused sync. Local work continues, and nothing is sent or fetched until `sync.resume()`
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
 * Where sync can stall while connected:
 * - `delivery`: the server does not send its changes
 * - `outcome`: the server does not answer a push
 * - `apply`: a delivery cannot be written to the local database
 * - `audit`: rows differ from the server's, and replacing them did not help
 */
export type SyncStage = 'delivery' | 'outcome' | 'apply' | 'audit';

/**
 * What sync can wait for, in the order of a first sync. Each wait has a deadline, after which sync continues without it
 * or connects again.
 */
export type WaitStage =
  /** The app's `token` callback. */
  | 'token'
  /** The connection to open. */
  | 'socket'
  /** The server's response to the hello. */
  | 'welcome'
  /** The first byte of the server's snapshot. */
  | 'snapshot-answer'
  /** The server reports that it is building the snapshot. */
  | 'snapshot-build'
  /** More bytes of the snapshot. */
  | 'snapshot-download'
  /** This device, which unpacks and stores the snapshot. */
  | 'snapshot-store'
  /** The changes on the server that this device lacks. */
  | 'delivery'
  /** The outcomes of the changesets that were sent. */
  | 'outcome';

/** What sync waits for. */
export interface SyncWait {
  readonly stage: WaitStage;
  /** Wall time in ms of the last progress, or of the start of the wait. */
  readonly sinceMs: number;
  /** Wall time in ms when the wait ends unless there is progress. */
  readonly deadlineMs: number;
}

/**
 * The next remedy. `reconnect` and `resend` open a new connection, on which every undecided changeset is sent again;
 * `reload` replaces the local data with a full resync; `restart` starts a new worker. A database in memory would be
 * lost with its worker, so for `worker-stuck` the app has to restart it.
 */
export type SyncRemedy = 'reconnect' | 'resend' | 'reload' | 'restart';

/** A stage of sync that failed several times in a row. */
export interface StuckStage {
  readonly stage: SyncStage;
  readonly times: number;
  /** The error of the last failure. */
  readonly error: ErrorData;
  readonly next: SyncRemedy;
}

/**
 * `leader`: this tab writes and syncs for all tabs. `follower`: this tab reads locally and sends its writes to the
 * leader. `none`: this tab does neither, because it is opening, suspended, or ended (`blocked`, `outdated`).
 */
export type TabRole = 'leader' | 'follower' | 'none';

/** The status of sync, for the app to show. The same in every tab except for `role`. */
export interface SyncStatus {
  readonly state: SyncState;
  /** Changesets that the server has not decided yet. */
  readonly pendingCount: number;
  /** Rejected changesets that the user has not decided yet. */
  readonly rejectedCount: number;
  /** The sequence of the last changeset sent on this connection, decided or not; null while there is no connection. */
  readonly sentUpTo: number | null;
  readonly reason: ErrorData | null;
  /**
   * `app-outdated`: a newer version of the app changed the database so that this version's statements no longer fit.
   * `migration-refused`: a migration of this version waits for unsent or rejected changes. Once there are none, it runs
   * when a tab next becomes the leader. This version reads and syncs, but its writes fail with this error. Null if it
   * may write.
   */
  readonly readOnly: ErrorData | null;
  /**
   * Whether the server lets this user write, as it said when this device last connected; also known while offline and
   * after a restart. False for a viewer: writes succeed on the device and wait there. Null before the first connection.
   */
  readonly userMayWrite: boolean | null;
  /** The current wait of sync; null while it waits for nothing or for its next attempt. */
  readonly waitingFor: SyncWait | null;
  /** The stage that stalls despite a connection, and the next remedy; null if no stage stalls. */
  readonly stuck: StuckStage | null;
  /** The progress of the snapshot download; null while there is none. */
  readonly snapshot: SnapshotProgress | null;
  /** Wall time in ms when the last bytes came from the server. */
  readonly lastContactMs: number | null;
  /** Where the database is stored. Does not change while the client is open. */
  readonly persistence: Persistence;
  readonly role: TabRole;
  /** How far the clock of this device is ahead of the server's, in ms; null before the first contact. */
  readonly clockOffsetMs: number | null;
  /**
   * True if the clock is a minute or more off, in either direction. Merging is not affected, but dates that this device
   * takes from its clock may be wrong.
   */
  readonly clockWrong: boolean;
}

/** The status before the worker's first response, which states where the database is stored. */
export const INITIAL_STATUS: Omit<SyncStatus, 'role'> = Object.freeze({
  state: 'opening',
  pendingCount: 0,
  rejectedCount: 0,
  sentUpTo: null,
  reason: null,
  readOnly: null,
  userMayWrite: null,
  waitingFor: null,
  stuck: null,
  snapshot: null,
  lastContactMs: null,
  persistence: 'opfs',
  clockOffsetMs: null,
  clockWrong: false,
});

/**
 * A status sent to a page, either with a response or in a separate message. Updates may arrive out of order, so an
 * update with a lower number than the last one is stale.
 */
export interface StatusUpdate {
  readonly number: number;
  readonly status: SyncStatus;
}
