import type { ErrorData } from '@rockpool/shared';
import type { QueryDependencies } from './query-dependencies.ts';
import type { RowsDiff } from './rows-diff.ts';
import type { EncodedRows } from './rows-transfer.ts';
import type { Migration } from './migration.ts';
import type { OwnState, PeersUpdate } from './presence.ts';
import type { RejectedChangeset } from './rejected-changeset.ts';
import type { Persistence, PersistenceChoice } from './persistence.ts';
import type { SqlStatement, StatementOutcome } from './sql-statement.ts';
import type { RowSyncState } from './row-sync-state.ts';
import type { SqlValue } from './sql-value.ts';
import type { StatusUpdate } from './sync-status.ts';
import type { TransactionAsk } from './transaction-ask.ts';
import type { WriteState } from './write-state.ts';
import type { WriteAction } from './write-action.ts';

// Where page and worker meet: each imports this file and neither imports the other.

/**
 * `relaxed`: a write survives the death of tab, worker and browser. `strict`: power loss too, for a flush, which writes
 * that wait at the same time share.
 */
export type Durability = 'relaxed' | 'strict';

/**
 * Where the server is and which of its databases is meant. The token is asked for when it is needed: `TabApi.token`.
 */
export interface SyncTarget {
  readonly url: string;
  readonly databaseId: string;
  /** Who is signed in; null where the app does not say. */
  readonly principal: string | null;
  /**
   * A database that is not there yet is filled from the server's snapshot before it is opened, if the server begins to
   * answer within this time. Null: not.
   */
  readonly firstSyncWithinMs: number | null;
}

export interface OpenOptions {
  readonly name: string;
  /** The app's schema, as `encodeSchema` writes it. */
  readonly schema: string;
  /** Null: the database is brought to the schema by adding. */
  readonly migrations: readonly Migration[] | null;
  readonly sync: SyncTarget | null;
  readonly durability: Durability;
  readonly persistence: PersistenceChoice;
}

/** What lies on this device under one name. */
export interface DatabaseInfo {
  readonly name: string;
  readonly persistence: Persistence;
  /** Its file and its log. */
  readonly sizeBytes: number;
}

/** What a worker can do with databases that it has not open. */
export interface DatabasesApi {
  listDatabases(): Promise<readonly DatabaseInfo[]>;
  deleteDatabase(name: string): Promise<void>;
  /** Resolves with the name that it is kept under. */
  quarantineDatabase(name: string): Promise<string>;
  backupDatabase(name: string): Promise<Blob>;
  restoreDatabase(name: string, file: Blob, persistence: PersistenceChoice): Promise<void>;
}

/** What a page asks of its worker. Every failure arrives as a `RockpoolError` (see error-transfer.ts). */
export interface WorkerApi extends DatabasesApi {
  /**
   * Resolves with the status when local reads and writes work; waits for the network only where a first sync was asked
   * for. Called once, before anything else. Status events come after that.
   */
  open(options: OpenOptions, tab: TabApi): Promise<StatusUpdate>;
  query(statement: SqlStatement): Promise<EncodedRows>;
  /**
   * Begins a large result; the page names it. What it gives is of one moment where storage has room for another
   * connection.
   */
  openStream(streamId: number, statement: SqlStatement): Promise<void>;
  /** Its next rows; null after the last. */
  nextChunk(streamId: number): Promise<EncodedRows | null>;
  closeStream(streamId: number): Promise<void>;
  /**
   * One atomic transaction; resolves when it is committed, wherever it ran. The page makes its id: asked again under
   * that, it is done once.
   */
  write(statements: readonly SqlStatement[], action: WriteAction | undefined, requestId: string): Promise<WriteAnswer>;
  /**
   * One step of a transaction that stays open from call to call; the page makes its id. Only what reads or writes gives
   * an outcome. Rejects with `transaction-lost`, `transaction-timeout` and `transaction-ended` when it is not open any
   * more: nothing of it is kept.
   */
  transact(transactionId: string, ask: TransactionAsk): Promise<StatementOutcome | null>;
  /** Resolves when it is committed; once it is asked for, its outcome is certain even if the leader dies. */
  commit(transactionId: string): Promise<StatusUpdate | null>;
  /** What was refused and waits for a decision, oldest first. */
  rejected(): Promise<readonly RejectedChangeset[]>;
  rowSyncState(table: string, key: readonly SqlValue[]): Promise<RowSyncState>;
  /** All that is committed, as one plain SQLite file. */
  backup(): Promise<Blob>;
  /** What became of writes, by the ids that they were asked for under. */
  writeStates(requestIds: readonly string[]): Promise<WriteStatesAnswer>;
  /** Sync tries at once, in whatever tab it runs. */
  syncNow(): Promise<void>;
  /** From now on this is shown of the tab to others, and news of them arrive as events. The page makes the tab's id. */
  showPresence(tabId: string, states: readonly OwnState[]): Promise<void>;
  /** From now on results of this query arrive as events under `queryId`, the first one at once. */
  watch(queryId: number, statement: SqlStatement): Promise<void>;
  unwatch(queryId: number): Promise<void>;
  /** The live queries that this worker runs for the page. */
  liveQueryRuns(): Promise<readonly LiveQueryRuns[]>;
  /** The page is hidden for good, frozen or kept for going back: let go of everything that other tabs need. */
  suspend(): Promise<void>;
  /** The page is back. */
  resume(): Promise<void>;
  /** The device has a network again. Chromium tells its pages alone, so they pass it on. */
  online(): Promise<void>;
  /** Answers as soon as the worker has time. */
  ping(): Promise<void>;
  /** Lets accepted writes end, then releases locks, channels and files. */
  close(): Promise<void>;
}

/**
 * With the status that counts the write, unless an earlier answer has brought it: whoever has written must not read
 * that everything is sent.
 */
export interface WriteAnswer {
  readonly outcomes: readonly StatementOutcome[];
  readonly update: StatusUpdate | null;
}

/**
 * With the status that counts them, unless an earlier answer has brought it: whoever learns that a write is at the
 * server must not read that it waits.
 */
export interface WriteStatesAnswer {
  readonly fates: readonly WriteState[];
  readonly update: StatusUpdate | null;
}

/** What a worker asks of its page. */
export interface TabApi {
  onEvent(event: WorkerEvent): void | Promise<void>;
  token(): Promise<string>;
}

/** What became of one live query: the first diff is against no rows, and one after an error against the last rows. */
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
  /** All live queries that a commit, or several in one turn, gave another result. */
  | { readonly kind: 'live'; readonly results: readonly LiveResult[] }
  | { readonly kind: 'status'; readonly update: StatusUpdate }
  /**
   * The server's whole state comes as a file, to this tab or to the one that leads; at first sync before anything is
   * open.
   */
  | { readonly kind: 'first-sync'; readonly receivedBytes: number; readonly totalBytes: number }
  | { readonly kind: 'presence'; readonly update: PeersUpdate }
  /** Something failed that no call is waiting for. */
  | { readonly kind: 'problem'; readonly error: ErrorData };
