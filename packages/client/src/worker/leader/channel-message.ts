import type { TransferredError } from '../../rpc/error-transfer.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { TransactionAsk } from '../../rpc/transaction-ask.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import type { CommitNotice, CommitPosition } from '../invalidate/commit-notice.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SyncStatus } from '../../rpc/sync-status.ts';
import { STORAGE_FORMAT } from '../file/internal-tables.ts';
import type { TabOptions } from './tab-options.ts';

/**
 * The version of these messages. Tabs of one origin may run different bundles, so every message carries it.
 *
 * 1  first version 2  the leader states which server database it syncs with, and its other options 3  fields are
 * renamed: `leaderTerm`, and the names of rejected changesets and row states
 *
 * It also rises with the storage format, because a tab cannot read files of an older one, which an older leader keeps.
 */
export const CHANNEL_PROTOCOL: number = 3 + STORAGE_FORMAT;

/** Messages of a tab to all other tabs of the database. */
export type BroadcastMessage =
  /** A new tab asks which tab leads. */
  | { readonly kind: 'hello'; readonly schema: string; readonly migrationCount: number }
  | LeaderMessage
  /** The leader committed. */
  | ({ readonly kind: 'commit' } & CommitNotice)
  /** The position again, without the changes, for tabs that missed the notice. */
  | ({ readonly kind: 'position' } & CommitPosition)
  /** The next leader first fills the database from the server, which may take a long time. */
  | ({ readonly kind: 'first-sync' } & SnapshotProgress)
  | StatusMessage;

/** Messages between two tabs: a follower asks, the leader answers. */
export type DirectMessage = StatusMessage | AskMessage | AnswerMessage;

export type ChannelMessage = BroadcastMessage | DirectMessage;

/**
 * Sent to all tabs when it changes, and to the author of a write before the response, because a broadcast could arrive
 * later.
 */
export interface StatusMessage {
  readonly kind: 'status';
  readonly leaderTerm: string;
  /** Counts up within the leadership: a lower number is outdated. */
  readonly statusNumber: number;
  readonly status: LeaderStatus;
}

/** The leader's announcement: when it begins to lead, and in response to every hello. */
export interface LeaderMessage {
  readonly kind: 'leader';
  /** The address for requests. */
  readonly tabId: string;
  readonly leaderTerm: string;
  readonly commitNumber: number;
  readonly schema: string;
  readonly migrationCount: number;
  readonly statusNumber: number;
  readonly status: LeaderStatus;
  /** Whether other tabs may open the files that it writes. If not, they read through the leader. */
  readonly sharesFiles: boolean;
  readonly tabOptions: TabOptions;
}

export interface AskMessage {
  readonly kind: 'ask';
  /** The leader that the request is for. Any other leader ignores it, and receives it again after announcing itself. */
  readonly leaderTerm: string;
  /** The address for the response. */
  readonly tabId: string;
  /** Stored with the effect of a write, so that a repeated request takes effect only once. */
  readonly requestId: string;
  /**
   * Differs when the author repeats a request, under the same id, after it has received a failure. Equal in messages
   * that repeat a request without a response.
   */
  readonly attempt: number;
  /** The preceding write of the same tab; null if the tab waits for none. */
  readonly afterRequestId: string | null;
  readonly request: LeaderRequest;
  /**
   * Wall time in ms after which the request must not begin, because its author has received a failure. All tabs share
   * one clock.
   */
  readonly latestStartMs: number;
}

export type AnswerMessage =
  /** The write or read has begun and may take long, so its author waits for the response without a deadline. */
  | { readonly kind: 'begun'; readonly leaderTerm: string; readonly requestId: string }
  | { readonly kind: 'answer'; readonly requestId: string; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly requestId: string; readonly error: TransferredError };

export type LeaderRequest = WriteWork | ReadWork | StepWork | SyncNowWork;

/** One transaction. The response contains the results of the statements. */
export interface WriteWork {
  readonly kind: 'write';
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
}

/** One call of `Reads`. The response contains the result of the call. */
export type ReadWork = {
  readonly [Method in keyof Reads]: {
    readonly kind: 'read';
    readonly method: Method;
    readonly args: Parameters<Reads[Method]>;
  };
}[keyof Reads];

/**
 * One step of an interactive transaction, whose commit is a write. The response contains the result of the statement,
 * or null.
 */
export interface StepWork {
  readonly kind: 'step';
  readonly transactionId: string;
  readonly ask: TransactionAsk;
}

/** Retries sync at once. The response contains no value. */
export interface SyncNowWork {
  readonly kind: 'sync-now';
}

/** The status of sync as reported by the leader. The role is that of each tab. */
export type LeaderStatus = Omit<SyncStatus, 'role'>;
