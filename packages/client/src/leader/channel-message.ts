import type { TransferredError } from '../rpc/error-transfer.ts';
import type { SqlStatement, StatementResult } from '../rpc/sql-statement.ts';
import type { WriteAction } from '../rpc/write-action.ts';
import type { SyncStatus } from '../rpc/sync-status.ts';

/**
 * The version of these messages. Tabs of one origin may run different bundles, so every message carries it.
 *
 * 1  first version
 */
export const CHANNEL_PROTOCOL = 1;

/** Everything that tabs of one database say to each other, over the BroadcastChannel `rockpool:<name>`. */
export type ChannelMessage =
  /** A tab has come and asks who leads. */
  | { readonly kind: 'hello'; readonly schema: string }
  /** The leader says that it leads: once when it begins, and to every hello. */
  | { readonly kind: 'leader'; readonly epoch: string; readonly commitNumber: number; readonly schema: string; readonly status: LeaderStatus }
  /** The leader has committed. */
  | { readonly kind: 'commit'; readonly epoch: string; readonly commitNumber: number; readonly tables: readonly string[] }
  | { readonly kind: 'status'; readonly epoch: string; readonly status: LeaderStatus }
  /** A follower asks the leader to write. */
  | WriteMessage
  | { readonly kind: 'written'; readonly requestId: string; readonly results: readonly StatementResult[] }
  | { readonly kind: 'refused'; readonly requestId: string; readonly error: TransferredError };

export interface WriteMessage {
  readonly kind: 'write';
  /** Which leader is asked. Another passes it over: it is asked itself as soon as it has announced itself. */
  readonly epoch: string;
  /** Stored with the effect of the write: however often it is asked, it is done once. */
  readonly requestId: string;
  /** The request of the same tab that has to come first; null if that tab waits for no earlier one. */
  readonly afterRequestId: string | null;
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
  /** Wall time in ms after which it may not be begun: its author has been told that it failed. All tabs share one clock. */
  readonly latestStartMs: number;
}

/** The status of sync as the leader knows it; the role is each tab's own. */
export type LeaderStatus = Omit<SyncStatus, 'role'>;
