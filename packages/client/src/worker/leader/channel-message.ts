import type { TransferredError } from '../../rpc/error-transfer.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { TransactionAsk } from '../../rpc/transaction-ask.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import type { CommitNotice, CommitPosition } from './commit-notice.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SyncStatus } from '../../rpc/sync-status.ts';
import type { TabOptions } from './tab-options.ts';

/**
 * The version of these messages. Tabs of one origin may run different bundles, so every message carries it.
 *
 * 1  first version
 * 2  the leader says which server database it syncs with, and its other options
 * 3  fields are renamed: `leaderTerm`, and the names of rejected changesets and row states
 */
export const CHANNEL_PROTOCOL = 3;

/** What tabs of one database say to all others. */
export type BroadcastMessage =
  /** A tab has come and asks who leads. */
  | { readonly kind: 'hello'; readonly schema: string; readonly migrationCount: number }
  | LeaderMessage
  /** The leader has committed. */
  | ({ readonly kind: 'commit' } & CommitNotice)
  /** The same once more, without what changed: for who has missed it. */
  | ({ readonly kind: 'position' } & CommitPosition)
  /** Who is about to lead fills the database from the server first, which may take long. */
  | ({ readonly kind: 'first-sync' } & SnapshotProgress)
  | StatusMessage;

/** What one tab says to one other: a follower asks, the leader answers. */
export type DirectMessage = StatusMessage | AskMessage | AnswerMessage;

export type ChannelMessage = BroadcastMessage | DirectMessage;

/** Told to all when it changes, and to who has written before the answer: the other way it could come after that. */
export interface StatusMessage {
  readonly kind: 'status';
  readonly leaderTerm: string;
  /** Counts up within the leadership: what has a lower number is old. */
  readonly statusNumber: number;
  readonly status: LeaderStatus;
}

/** The leader says that it leads: once when it begins, and to every hello. */
export interface LeaderMessage {
  readonly kind: 'leader';
  /** Where it can be asked. */
  readonly tabId: string;
  readonly leaderTerm: string;
  readonly commitNumber: number;
  readonly schema: string;
  readonly migrationCount: number;
  readonly statusNumber: number;
  readonly status: LeaderStatus;
  /** Whether other tabs may open the files that it writes. If not, they read by asking. */
  readonly sharesFiles: boolean;
  readonly tabOptions: TabOptions;
}

export interface AskMessage {
  readonly kind: 'ask';
  /** Which leader is asked. Another passes it over: it is asked itself as soon as it has announced itself. */
  readonly leaderTerm: string;
  /** Where the answer goes. */
  readonly tabId: string;
  /** Stored with the effect of a write: however often it is asked, it is done once. */
  readonly requestId: string;
  /** The write of the same tab that has to come first; null if that tab waits for no earlier one. */
  readonly afterRequestId: string | null;
  readonly request: LeaderRequest;
  /**
   * Wall time in ms after which it may not be begun: its author has been told that it failed. All tabs share one clock.
   */
  readonly latestStartMs: number;
}

export type AnswerMessage =
  | { readonly kind: 'answer'; readonly requestId: string; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly requestId: string; readonly error: TransferredError };

export type LeaderRequest = WriteWork | ReadWork | StepWork | SyncNowWork;

/** One transaction. Its answer: the results of the statements. */
export interface WriteWork {
  readonly kind: 'write';
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
}

/** One call of `Reads`. Its answer: what the call gives. */
export type ReadWork = {
  readonly [Method in keyof Reads]: {
    readonly kind: 'read';
    readonly method: Method;
    readonly args: Parameters<Reads[Method]>;
  };
}[keyof Reads];

/**
 * One step of a transaction that stays open from call to call; its commit is a write. Its answer: what the statement
 * gave, or null.
 */
export interface StepWork {
  readonly kind: 'step';
  readonly transactionId: string;
  readonly ask: TransactionAsk;
}

/** Sync shall try at once. Its answer: nothing. */
export interface SyncNowWork {
  readonly kind: 'sync-now';
}

/** The status of sync as the leader knows it; the role is each tab's own. */
export type LeaderStatus = Omit<SyncStatus, 'role'>;
