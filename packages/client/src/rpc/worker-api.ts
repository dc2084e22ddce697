import type { ErrorData } from '@rockpool/shared';
import type { QueryDependencies } from './query-dependencies.ts';
import type { RowsDiff } from './rows-diff.ts';
import type { EncodedRows } from './rows-transfer.ts';
import type { Migration } from './migration.ts';
import type { TransportName } from './transport.ts';
import type { OwnState, PeersUpdate } from './presence.ts';
import type { PastAnswer, PastAsk } from './past-state.ts';
import type { SnapshotProgress } from './snapshot-progress.ts';
import type { RejectedChangeset, WaitingChangeset } from './rejected-changeset.ts';
import type { Persistence, PersistenceChoice } from './persistence.ts';
import type { SqlStatement, StatementOutcome } from './sql-statement.ts';
import type { RowSyncState } from './row-sync-state.ts';
import type { SqlValue } from './sql-value.ts';
import type { StatusUpdate } from './sync-status.ts';
import type { TransactionAsk } from './transaction-ask.ts';
import type { WriteState } from './write-state.ts';
import type { WriteAction } from './write-action.ts';

// The interface between page and worker. Both import this file; neither imports the other.

/**
 * `relaxed`: a write survives a crash of the tab, the worker and the browser. `strict`: it also survives power loss, at
 * the cost of a flush, which concurrent writes share.
 */
export type Durability = 'relaxed' | 'strict';

/**
 * The server and its database to sync with. The worker asks for the token when it needs one, through `TabApi.token`.
 */
export interface SyncTarget {
  readonly url: string;
  readonly databaseId: string;
  /** The signed-in user; null if the app does not name one. */
  readonly principal: string | null;
  /** How long a new database waits for the server's snapshot to begin before it opens. Null: it does not wait. */
  readonly firstSyncWithinMs: number | null;
  readonly transport: TransportName;
}

export interface OpenOptions {
  readonly name: string;
  /** The app's schema, encoded by `encodeSchema`. */
  readonly schema: string;
  /** The migrations of the app. Null: the database is migrated additively. */
  readonly migrations: readonly Migration[] | null;
  readonly sync: SyncTarget | null;
  readonly durability: Durability;
  readonly persistence: PersistenceChoice;
}

/** A database on this device. */
export interface DatabaseInfo {
  readonly name: string;
  readonly persistence: Persistence;
  /** The size of the file and its write-ahead log. */
  readonly sizeBytes: number;
}

/** Operations on databases that the worker does not have open. */
export interface DatabasesApi {
  listDatabases(): Promise<readonly DatabaseInfo[]>;
  deleteDatabase(name: string): Promise<void>;
  /** Resolves with the name of the quarantined database. */
  quarantineDatabase(name: string): Promise<string>;
  backupDatabase(name: string): Promise<Blob>;
  restoreDatabase(name: string, file: Blob, persistence: PersistenceChoice): Promise<void>;
}

/** The calls from a page to its worker. Every failure arrives as a `RockpoolError` (see error-transfer.ts). */
export interface WorkerApi extends DatabasesApi {
  /**
   * Called once, before any other method. Resolves with the status when local reads and writes work; waits for the
   * network only if a first sync was requested. Status events follow.
   */
  open(options: OpenOptions, tab: TabApi): Promise<StatusUpdate>;
  query(statement: SqlStatement): Promise<EncodedRows>;
  /**
   * Starts a large result under an id that the page creates. All rows are from one snapshot if the storage allows a
   * second connection.
   */
  openStream(streamId: number, statement: SqlStatement): Promise<void>;
  /** The next rows of a stream; null after the last. */
  nextChunk(streamId: number): Promise<EncodedRows | null>;
  closeStream(streamId: number): Promise<void>;
  /**
   * Runs one transaction; resolves when it is committed, in this tab or at the leader. The page creates the request id;
   * a repeated request with the same id runs only once.
   */
  write(statements: readonly SqlStatement[], action: WriteAction | undefined, requestId: string): Promise<WriteAnswer>;
  /**
   * Runs one step of a transaction that stays open between calls. The page creates the id of the transaction. Only
   * reads and writes have a result. Rejects with `transaction-lost`, `transaction-timeout` or `transaction-ended` if
   * the transaction is no longer open; then none of its writes are kept.
   */
  transact(transactionId: string, ask: TransactionAsk): Promise<StatementOutcome | null>;
  /**
   * Commits a transaction and resolves when it is committed. Once the commit is requested, its outcome can be found
   * even if the leader dies.
   */
  commit(transactionId: string): Promise<StatusUpdate | null>;
  /** The rejected changesets, oldest first. */
  rejected(): Promise<RejectedChangeset[]>;
  /** The first `limit` changesets of the outbox that are not withdrawn, oldest first. */
  waiting(limit: number): Promise<WaitingChangeset[]>;
  rowSyncState(table: string, key: readonly SqlValue[]): Promise<RowSyncState>;
  /** All committed data as one plain SQLite file. */
  backup(): Promise<Blob>;
  /** The states of writes, by their request ids. */
  writeStates(requestIds: readonly string[]): Promise<WriteStatesAnswer>;
  /**
   * Requests bytes from the server over HTTP, with the tab's token. `path` is appended to the path of the database and
   * begins with a slash. Rejects with the server's error, or `network-unreachable`.
   */
  request(path: string): Promise<Uint8Array>;
  /** Opens, queries and closes past states; see PastAsk. Rejects like Client.past and PastState.query. */
  past(ask: PastAsk, onProgress: ((progress: SnapshotProgress) => void) | null): Promise<PastAnswer>;
  /** Connects now, in the tab that syncs. */
  syncNow(): Promise<void>;
  /** Shows these states of the tab to others and starts presence events. The page creates the tab id. */
  showPresence(tabId: string, states: readonly OwnState[]): Promise<void>;
  /** Starts sending results of this query as events under `queryId`, the first one immediately. */
  watch(queryId: number, statement: SqlStatement): Promise<void>;
  unwatch(queryId: number): Promise<void>;
  /** The live queries that this worker runs for the page. */
  liveQueryRuns(): Promise<readonly LiveQueryRuns[]>;
  /**
   * Called when the page is left, frozen or kept in the back/forward cache. Releases everything that other tabs need.
   */
  suspend(): Promise<void>;
  /** Called when the page was restored. */
  resume(): Promise<void>;
  /** Called when the device is online again. Chromium fires this event only in pages, which therefore pass it on. */
  online(): Promise<void>;
  /** Called when the device reports that it is offline. */
  offline(): Promise<void>;
  /** Resolves as soon as the worker is free. */
  ping(): Promise<void>;
  /** Waits for accepted writes, then releases locks, channels and files. */
  close(): Promise<void>;
}

/**
 * The results of a write, with a status that counts the write, unless an earlier response had such a status. After a
 * write, a page must not see a status that says everything is sent.
 */
export interface WriteAnswer {
  readonly outcomes: readonly StatementOutcome[];
  readonly update: StatusUpdate | null;
}

/**
 * The states of writes, with a status that counts them, unless an earlier response had such a status. A page that
 * receives the state `admitted` must not count the write as pending.
 */
export interface WriteStatesAnswer {
  readonly states: readonly WriteState[];
  readonly update: StatusUpdate | null;
}

/** The calls from a worker to its page. */
export interface TabApi {
  onEvent(event: WorkerEvent): void | Promise<void>;
  token(): Promise<string>;
}

/**
 * The result of one live query. The first diff is relative to no rows; a diff after an error is relative to the last
 * rows.
 */
export type LiveResult =
  | { readonly queryId: number; readonly diff: RowsDiff }
  | { readonly queryId: number; readonly error: ErrorData };

/** How a live query has run in the worker. `LiveQueryInfo` describes the fields. */
export interface LiveQueryRuns {
  readonly queryId: number;
  readonly dependencies: QueryDependencies | null;
  readonly wakeCount: number;
  readonly lastRunAtMs: number | null;
  readonly lastRunMs: number | null;
}

export type WorkerEvent =
  /** The live queries whose result changed in one task, through one or more commits. */
  | { readonly kind: 'live'; readonly results: readonly LiveResult[] }
  | { readonly kind: 'status'; readonly update: StatusUpdate }
  /**
   * Progress of a snapshot download, in this tab or the leader. During a first sync, it is called before the database
   * is open.
   */
  | { readonly kind: 'first-sync'; readonly receivedBytes: number; readonly totalBytes: number }
  | { readonly kind: 'presence'; readonly update: PeersUpdate }
  /** A failure that belongs to no call. */
  | { readonly kind: 'problem'; readonly error: ErrorData };
