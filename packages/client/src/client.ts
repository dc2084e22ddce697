import type { RockpoolError, Schema } from '@rockpool/shared';
import type { DocumentPath } from '@rockpool/shared/document';
import type { Awareness } from 'y-protocols/awareness';
import type { Doc, Text, UndoManager } from 'yjs';
import type { RejectedChange, RejectedChangeset, RejectedValue } from './rpc/rejected-changeset.ts';
import type { Persistence, PersistenceChoice } from './rpc/persistence.ts';
import type { RowKey } from './rpc/row-key.ts';
import type { ChangeStage, ChangeSyncState, RowSyncState } from './rpc/row-sync-state.ts';
import type { SqlStatement, StatementResult } from './rpc/sql-statement.ts';
import type { SqlParam, SqlRow, SqlValue } from './rpc/sql-value.ts';
import type { StuckStage, SyncRemedy, SyncStage, SyncState, SyncStatus, TabRole } from './rpc/sync-status.ts';
import type { TransportName } from './rpc/transport.ts';
import type { Durability } from './rpc/worker-api.ts';

// Declares the public interface; open-client.ts wires it.
export { INITIAL_STATUS } from './rpc/sync-status.ts';
export type {
  ChangeStage,
  Durability,
  RejectedChange,
  RejectedChangeset,
  RejectedValue,
  Persistence,
  PersistenceChoice,
  ChangeSyncState,
  RowKey,
  RowSyncState,
  SqlParam,
  SqlRow,
  SqlStatement,
  SqlValue,
  StatementResult,
  StuckStage,
  SyncRemedy,
  SyncStage,
  SyncState,
  SyncStatus,
  TabRole,
  TransportName,
};

export interface ClientOptions {
  /**
   * The name of the database on this device. All tabs of an origin that use the same name share one database. 1 to 64
   * letters, digits, `_`, `-` or `.`, starting with a letter or digit.
   */
  readonly name: string;
  /** The return value of `defineSchema`. */
  readonly schema: Schema;
  /**
   * The migrations that drizzle-kit generated. Each runs once per database; all new ones run in one transaction. Without
   * them, Rockpool migrates additively: it adds missing tables, columns and indexes.
   */
  readonly migrations?: DrizzleMigrations;
  /** The server to sync with. Without it the client works on this device only. */
  readonly sync?: SyncOptions;
  /**
   * Default `relaxed`: a write survives a crash of the tab, the worker and the browser. `strict` also survives power loss:
   * a write resolves after a flush, which concurrent writes share. A write whose flush fails rejects with
   * `storage-unflushed`: it is committed and will be sent, so do not repeat it, but power loss on this device may undo it.
   */
  readonly durability?: Durability;
  /**
   * Where the database is stored. Default `durable`: the best durable storage of this browser; `status.persistence`
   * names it. Any other value uses exactly that storage; `indexeddb` and `memory` each have a database of their own.
   * `memory` loses everything when the tab closes and shares nothing between tabs. Rockpool never falls back to it.
   */
  readonly persistence?: PersistenceChoice;
  /**
   * Called with failures that belong to no call, for example of a background task. Default: the page's `error` event, as
   * for any uncaught error.
   */
  readonly onError?: (error: RockpoolError) => void;
}

/** drizzle-kit's journal `meta/_journal.json`, and the text of its SQL files by `m0000`, tag or path. */
export interface DrizzleMigrations {
  readonly journal: { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };
  readonly migrations: Readonly<Record<string, string>>;
}

/** The return value of the app's `token` callback; see SyncOptions. */
export type TokenAnswer = string | Response | null;

export interface SyncOptions {
  /** The URL of the server: `wss://…`, or `ws://` on a trusted network. */
  readonly url: string;
  /** The server's database to sync with. */
  readonly databaseId: string;
  /** How to reach the server. The tab that syncs decides. Default `auto`. */
  readonly transport?: TransportName;
  /**
   * A stable id of the signed-in user. With it, Rockpool never sends one user's pending changes as another user.
   * Changes written before the first sign-in belong to the first principal. Opening as another principal while changes
   * are pending fails with `other-principal` and keeps the changes: sign the first user in again, or use another `name`.
   * Without it, the app itself must keep users apart.
   */
  readonly principal?: string;
  /**
   * Returns a token for the server. Rockpool calls it for every connection and every snapshot download, so it may fetch a
   * fresh token each time.
   *
   * Return the token, a `Response` whose text is the token (`token: () => fetch('/token')`), or `null` while no user is
   * signed in.
   *
   * `status` distinguishes three kinds of failure. Rockpool retries all of them, and `client.sync.tryNow()` retries
   * immediately:
   * - **Not signed in**: state `needs-auth`. The callback returned `null`, returned or threw a response of 401 or 403, or
   *   threw a `RockpoolError` such as `new RockpoolError('auth-database-forbidden')`.
   * - **The app's own server is unreachable**: state `offline`, reason `network-unreachable` with `stage: 'token'`, and
   *   `status` if there was a response. `fetch` failed, a deadline passed, or the response was 408, 425, 429 or 5xx.
   * - **The callback failed**: state `blocked`, reason `token-callback-failed`; `onError` receives the error, with the
   *   thrown value as its `cause`. The callback threw anything else, returned any other HTTP status, or returned a value
   *   that is not a string, is empty, or contains a character that a bearer token cannot have.
   *
   * The HTTP status is taken from a `Response`, or from an error's `status`, `statusCode` or `response.status`. A callback
   * that does not settle within 15 s counts as unreachable.
   */
  readonly token: () => Promise<TokenAnswer> | TokenAnswer;
  /**
   * Makes the first opening on a device wait for the server's snapshot, one file that loads many times faster than
   * single rows. Opening waits for the network once in the life of a database: up to `answerWithinMs` (default 3000)
   * for the token, for the response to begin and for a snapshot that is still being built, then for as long as
   * bytes arrive. Without a response, or if the server's database is small, the client opens empty and fills as it syncs.
   * Default: opening never waits, and the snapshot downloads in the background.
   */
  readonly firstSync?: {
    readonly answerWithinMs?: number;
    /**
     * Called in every tab with the bytes received so far. Also called for a later full resync, for example of a device
     * that was away too long; `status.snapshot` then has the same numbers.
     */
    readonly onProgress?: (progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void;
  };
}

/** A database that this tab has open, returned by `createClient`. Use one client per tab and database. */
export interface Client {
  readonly name: string;

  /**
   * Runs one read-only statement on this tab's own connection. It sees every commit whose promise has resolved, in any
   * tab.
   */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;

  /**
   * Runs one read-only statement and resolves with its result by column, for example for charts, without creating an
   * object per row.
   */
  columns(statement: SqlStatement): Promise<ResultColumns>;
  columns(sql: string, params?: readonly SqlParam[]): Promise<ResultColumns>;

  /**
   * Runs one read-only statement and yields its rows in chunks of a few thousand as the loop consumes them, so that
   * neither the page nor its worker is busy for longer than half a frame at a time. All rows come from one snapshot
   * of the database, whatever is written meanwhile. On storage that allows one connection only (`opfs-exclusive`,
   * `indexeddb`), the worker reads the whole result at once.
   *
   * If the page is suspended during the loop, the stream ends and the next step throws `storage-lost`.
   *
   * ```ts
   * for await (const rows of client.stream<Entry>('SELECT * FROM entry')) await send(rows);
   * ```
   */
  stream<Row extends object = SqlRow>(statement: SqlStatement): AsyncGenerator<Row[], void, void>;
  stream<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): AsyncGenerator<Row[], void, void>;

  /**
   * Runs one statement that writes, in its own transaction. Resolves when the transaction is committed and survives this
   * tab. A statement with `RETURNING` has rows in its result.
   */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Write<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Write<StatementResult<Row>>;

  /**
   * Runs the statements in one transaction: all of them take effect, or none. Results are in the order of the
   * statements.
   */
  batch(statements: readonly SqlStatement[], options?: BatchOptions): Write<StatementResult[]>;

  /**
   * Runs reads and writes as one transaction, which becomes one changeset. Commits when `body` resolves, and resolves with
   * its value once the commit is durable. Rolls back when `body` throws. Only the transaction sees its own writes before
   * the commit. Reads elsewhere do not wait for it, but writes of all tabs do, so never wait for the network or the user
   * in `body`. Statements of `tx` that `body` does not await still belong to the transaction.
   *
   * Rejects with the error that `body` threw, with the reason of `signal`, and with
   * - `transaction-timeout`: it was open for longer than `timeoutMs`
   * - `write-in-transaction` (from a write outside `tx`, such as `client.execute`): `body` waits for a write that waits
   *   for the transaction to end. Write through `tx`
   * - `transaction-lost`: the leader went away during the transaction. Nothing was kept; run it again
   * - `leader-unreachable`: its turn did not come within ten seconds
   * - `transaction-ended` (from `tx`): `tx` was used after the transaction ended
   *
   * ```ts
   * await client.transaction(async (tx) => {
   *   const [from] = await tx.query<{ balance: number }>(sql`SELECT balance FROM account WHERE id = ${fromId}`);
   *   if (from === undefined || from.balance < amount) throw new Error('not enough');
   *   await tx.execute(sql`UPDATE account SET balance = balance - ${amount} WHERE id = ${fromId}`);
   *   await tx.execute(sql`UPDATE account SET balance = balance + ${amount} WHERE id = ${toId}`);
   * });
   * ```
   */
  transaction<T>(body: (tx: Transaction) => Promise<T> | T, options?: TransactionOptions): Write<T>;

  /**
   * Resolves with how far this device's changes to one row have come on their way to the server. Rejects with
   * `schema-unknown-table` for a table that is not synced, and `key-invalid`.
   */
  rowSyncState(table: string, key: RowKey): Promise<RowSyncState>;
  /** Controls sync for all tabs of this device. `status` shows what sync is doing. */
  readonly sync: SyncControl;

  /**
   * Undoes the last transaction of this tab (`execute`, `batch` or `transaction`), newest first, up to a day back. Undo
   * writes the old values as a new transaction, which syncs like any other: values that others wrote in other columns
   * stay, and amounts added to counters are subtracted. Resolves with false if there is nothing to undo. Skips
   * transactions that changed no synced row.
   *
   * Rejects with `undo-refused` and changes nothing if the transaction cannot be undone. The field `problem` is `changed`,
   * `row-gone`, `row-back`, `referred-to`, `rejected`, `document`, `forgotten`, `schema`, or a constraint. The next
   * `undo` continues with the transaction before it.
   */
  undo(): Promise<boolean>;
  /** Repeats the last undone transaction, unless this tab has written since. Resolves and rejects like `undo`. */
  redo(): Promise<boolean>;

  /**
   * Transactions of this device that were committed here and later rejected, because they conflict with the writes of
   * others. `status.rejectedCount` is their number.
   */
  readonly rejected: RejectedChangesets;
  /** Restores values from the conflict log. Its entries are the rows of the table `rockpool_conflict`; query it like any table. */
  readonly conflicts: Conflicts;

  /**
   * Opens the document of one row, for editors and for changes to its JSON (see `LiveDocument`). Changes made by SQL
   * appear in it, and the reverse. Loads Yjs into the page. Rejects with `document-unknown` if the schema does not declare
   * the column as a document, and with `document-gone` if the row does not exist or the column is NULL.
   *
   * ```ts
   * const page = await client.document<{ body: string }>('page', [id], 'content');
   * page.change((value) => ({ ...value, body: `${value.body}!` }));
   * await page.saved();
   * ```
   */
  document<Value = unknown>(table: string, key: RowKey, column: string): Promise<LiveDocument<Value>>;

  /**
   * Opens the history of one row, whether it still exists or was deleted: its versions, each with author, time and the
   * values that changed. Rejects with `schema-unknown-table`, `history-not-kept` if the schema declares no history for the
   * table, and `key-invalid`.
   *
   * ```ts
   * const history = await client.history('entry', id);
   * const { versions } = await history.page();
   * await history.restore(versions[1].version, { columns: ['amount'] });
   * ```
   */
  history(table: string, key: RowKey): Promise<RowHistory>;

  /** The other tabs that have this database open now, and the state that each shows. */
  readonly presence: Presence;

  /**
   * Returns a live query, which emits again when its result changes. It runs while it has subscribers. Calls with the same
   * statement and parameters return the same object while any reference to it exists, so call it wherever you need it.
   * Where the order is ambiguous (`ORDER BY day LIMIT 20` with equal days), the result may differ from a fresh run of the
   * query: end the order with the key.
   */
  live<Row extends object = SqlRow>(statement: SqlStatement): LiveQuery<Row>;
  live<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): LiveQuery<Row>;

  /** The status of sync and of this tab. */
  readonly status: Subscribable<SyncStatus>;

  /**
   * Resolves with all committed data as one plain SQLite file, for `restoreDatabase`. The file is consistent, whatever is
   * written meanwhile. On storage that only one tab can open, the leader makes it; rejects with `leader-unreachable`
   * after ten seconds without an answer.
   */
  backup(): Promise<Blob>;

  /**
   * Closes the client and deletes the database from this device; the server's copy stays. Rejects with `changes-unsent`
   * while changes are pending or rejected, unless `discardUnsent` is true, and with `storage-busy` while another tab has
   * the database open.
   */
  leave(options?: { readonly discardUnsent?: boolean }): Promise<void>;

  /**
   * Waits for accepted writes, then releases every lock, channel and worker. Later calls reject with `client-closed`.
   */
  close(): Promise<void>;
}

/** Another tab that has the database open, on this device or another. */
export interface Peer<State = unknown> {
  readonly tabId: string;
  /** The site of the tab, 32 hex digits. All tabs of one browser profile share it. */
  readonly siteId: string;
  /** The principal in the tab's token, as verified by the server. */
  readonly principal: string;
  /** The `name` in that token; null if it has none. */
  readonly name: string | null;
  /** A CSS colour derived from the principal, the same on every page and dark enough for white text. */
  readonly color: string;
  /** When the tab first showed a state, in ms since 1970 by the server's clock. */
  readonly sinceMs: number;
  /** The JSON state that the tab shows. It comes unverified from another device: validate it before use. */
  readonly state: State;
}

/**
 * A value that changes over time. The status, rejected changesets, live queries, presence and documents have this shape. It fits
 * React's `useSyncExternalStore` and Svelte's store contract.
 */
export interface Subscribable<T> {
  /** The same object until the value changes. */
  readonly current: T;
  /**
   * Calls the listener at once and after every change, until the returned function is called. A value that has to be
   * read first (a live query, rejected changesets) calls it as soon as the first result is known. Needs no `this`.
   */
  subscribe(listener: (value: T) => void): () => void;
}

/**
 * The other tabs that are present, those of this device included, the longest present first. A tab is present while it
 * is connected and shows a state. Nothing is stored, and without a connection the list is empty. A tab that neither
 * sets a state nor subscribes sends and receives nothing.
 */
export interface Presence extends Subscribable<readonly Peer[]> {
  /**
   * Shows this state to the others and replaces the previous one; null hides this tab. Sends at most ten times a
   * second, always the newest state. Throws `presence-invalid` for a value that is not JSON or exceeds 2 KB.
   */
  set(state: unknown): void;
}

/** The promise of a write. It settles when the write is committed on this device; `synced` settles later. */
export interface Write<T> extends Promise<T> {
  /**
   * Resolves when the server has admitted the write; immediately if the write changed no synced table. Stays pending while
   * there is no network. It survives a change of leader. If the page closes first, the write is sent all the same.
   *
   * Rejects with the error of the write itself, except `storage-unflushed`; with the reason if the write is rejected
   * (`constraint-…`, `atomic-conflict`); with `config-invalid` if the client has no server; and with `client-closed`.
   *
   * ```ts
   * const write = client.execute(sql`INSERT INTO booking (id, seat) VALUES (${id}, ${seat})`);
   * await write; // safe on this device
   * await write.synced; // nobody else has the seat
   * ```
   */
  readonly synced: Promise<void>;
}

export interface SyncControl {
  /**
   * Closes the connection and opens none until `resume`, in all tabs. The pause is stored with the database, so it
   * outlasts reloads and restarts of the browser. Local work continues; the state is `paused`. Resolves when the pause is
   * stored.
   */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * Connects now instead of at the next attempt (`status.reason.fields.nextAttemptMs`). Does nothing while connected or
   * paused.
   */
  tryNow(): Promise<void>;
}

export interface BatchOptions {
  /**
   * True: the merge keeps the transaction whole. If any part loses to a concurrent write of another device, the server
   * rejects all of it with `atomic-conflict`. Default false: the part that loses goes into the conflict log, and the rest
   * takes effect.
   */
  readonly atomic?: boolean;
}

/** A result by column. */
export interface ResultColumns {
  readonly rowCount: number;
  /**
   * Values by column name; of two columns with the same name, the later. Numeric columns are a `Float64Array`, in which
   * NULL is NaN; all others are arrays of plain values.
   */
  readonly columns: Readonly<Record<string, Float64Array | readonly SqlValue[]>>;
}

export interface TransactionOptions extends BatchOptions {
  /**
   * How long the transaction may stay open, not counting the wait for its turn. More than 0 and at most 8000, because
   * writes of all tabs wait meanwhile. Default 5000.
   */
  readonly timeoutMs?: number;
  /** Rolls the transaction back when aborted. Has no effect once the body has resolved. */
  readonly signal?: AbortSignal;
}

/** The operations of an open transaction. Usable until its body settles. */
export interface Transaction {
  /** Sees the writes of this transaction so far. */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;
  /** A statement that fails is rolled back alone. The transaction continues if `body` catches the error. */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Promise<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<StatementResult<Row>>;
  /**
   * Runs a nested transaction on a savepoint: if `body` throws, only its own writes are rolled back. The outer transaction
   * rejects statements with `sql-forbidden` until the nested one settles.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T> | T): Promise<T>;
}

/** The rejected changesets of this device, oldest first. `current` is empty until the first listener has read them. */
export interface RejectedChangesets extends Subscribable<readonly RejectedChangeset[]> {
  /** Reads them once. */
  list(): Promise<RejectedChangeset[]>;
  /**
   * Applies the same changes to the current rows; counters are added to again. Rejects with the constraint that still
   * fails, with `row-missing` if a row that it changes no longer exists, with `changeset-undecided` while the server may
   * still admit it, or with `changeset-not-rejected`. The changeset then stays rejected.
   */
  retry(sequence: number): Promise<void>;
  /**
   * Runs other statements instead, for example an edited version of the changes. One transaction runs the statements and
   * removes the changeset from the list; it is `atomic` if the changeset was. Rejects like `retry`, and with any error of
   * the statements.
   */
  replace(sequence: number, statements: readonly (SqlStatement | string)[]): Promise<void>;
  /** Discards the changeset. Rejects with `changeset-undecided` and `changeset-not-rejected`. */
  drop(sequence: number): Promise<void>;
}

export interface Conflicts {
  /**
   * Writes the losing value of a conflict as a new edit: a value goes back into its cell (with the rest of its column
   * group) or its place in a document. The values of a deleted row bring back the row, with all values that the conflict
   * log has. A delete that lost to an update deletes the row.
   *
   * Rejects with `conflict-not-restorable`; the field `problem` is `unknown`, `schema`, `row-gone`, `counter` or
   * `incomplete`.
   */
  restore(id: string): Promise<void>;
}

/** One column of a row in one version. */
export interface ColumnChange {
  readonly column: string;
  /** NULL before an insert. */
  readonly before: SqlValue;
  /** NULL after a delete. */
  readonly after: SqlValue;
  /** The column is a document that changed; both values are null. Read it with `history.at`. */
  readonly isDocument: boolean;
}

/** A version of a row: what one transaction made of it. */
export interface RowVersion {
  /**
   * Identifies the version: the watermark under which the server admitted it. Null while the server has not admitted
   * this device's transaction.
   */
  readonly version: number | null;
  readonly kind: 'insert' | 'update' | 'delete';
  /** The principal who wrote it. Null for a version of this device whose principal the app does not name. */
  readonly author: string | null;
  /** The site that wrote it, 32 hex digits. */
  readonly siteId: string;
  /** Written on this device. */
  readonly isOwn: boolean;
  /** When it was written, in ms since 1970, by the server's clock; by this device's clock while it is not admitted. */
  readonly writtenMs: number;
  /** When the server received it. Null while it is not admitted. */
  readonly receivedMs: number | null;
  /** insert and delete: all columns outside the key; update: those whose value changed. */
  readonly changes: readonly ColumnChange[];
}

/** Versions of a row, newest first. */
export interface RowHistoryPage {
  readonly versions: readonly RowVersion[];
  /** `before` of the next page; null on the last one. */
  readonly next: number | null;
  /**
   * `server`: all versions up to `completeUntilMs`, and those of this device that the server has not admitted yet.
   * `device`: the server could not be asked (`error` says why). These are the versions of this device's own recent
   * transactions.
   */
  readonly source: 'server' | 'device';
  /** Up to this time every version is known, in ms since 1970; null: the versions of others are not known. */
  readonly completeUntilMs: number | null;
  /**
   * The last page only: older versions than the last one are no longer kept, or were never kept because the table did
   * not declare a history.
   */
  readonly isTruncated: boolean;
  /** Why the server was not asked. */
  readonly error: RockpoolError | null;
}

/** The newest versions of a row, as they are now. */
export interface RowHistoryState extends RowHistoryPage {
  /** True until the first answer. */
  readonly loading: boolean;
}

/**
 * The history of one row. As a live value it has the newest versions: it reads them again when the row changes here or
 * arrives from the server, and when the server admits a pending version. While the server cannot be reached, it keeps
 * the versions that it has read.
 */
export interface RowHistory extends Subscribable<RowHistoryState> {
  /** Reads versions once: the newest ones, or those before `before` (`next` of a page). `limit` is 20 by default, at most 200. */
  page(options?: { readonly before?: number; readonly limit?: number }): Promise<RowHistoryPage>;
  /** Adds the next page to the live value. Does nothing after the last one. */
  more(): Promise<void>;
  /**
   * Resolves with the row as a version left it, by column, documents as JSON; null if the version deleted it. Needs the
   * server. Rejects with `history-version-gone`, and with `network-unreachable` and other errors of the connection.
   */
  at(version: number): Promise<SqlRow | null>;
  /**
   * Writes the row as a version left it: a new transaction, which merges, syncs and can be undone like any other. With
   * `columns`, only those columns. Brings a deleted row back, unless `columns` are named, and deletes the row for a version
   * that deleted it. Rejects like `at`, with `row-missing` if the row of `columns` is gone, and with the errors of a write.
   */
  restore(version: number, options?: { readonly columns?: readonly string[] }): Promise<void>;
  /** The history of a document column of the row. Throws `document-unknown` for any other column. */
  document<Value = unknown>(column: string): DocumentHistory<Value>;
}

/** Consecutive edits of one author, without a pause of some minutes. */
export interface DocumentVersion {
  /** Identifies the last of the edits, for `at`, `diff` and `restore`. Null while the server has not admitted them. */
  readonly version: number | null;
  /** The principal who wrote them; see RowVersion. */
  readonly author: string | null;
  /** `insert`: the first of them created the row. `delete`: the row was deleted. */
  readonly kind: 'insert' | 'update' | 'delete';
  /** When the first of them was written, in ms since 1970. */
  readonly fromMs: number;
  /** When the last of them was written, in ms since 1970. */
  readonly untilMs: number;
  /** The number of edits. */
  readonly count: number;
}

/** Versions of a document, newest first. The other members are those of RowHistoryPage. */
export interface DocumentHistoryPage extends Omit<RowHistoryPage, 'versions'> {
  readonly versions: readonly DocumentVersion[];
}

/**
 * An operation of a JSON Patch (RFC 6902), with the value that it replaces or removes. `path` is a JSON Pointer. `text`:
 * the ranges of a text that changed, in UTF-16 units of the old text.
 */
export type DocumentOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly oldValue: unknown }
  | {
      readonly op: 'replace';
      readonly path: string;
      readonly value: unknown;
      readonly oldValue: unknown;
      readonly text?: readonly { readonly at: number; readonly removed: string; readonly inserted: string }[];
    };

/** The history of one document. Its table must declare a history. */
export interface DocumentHistory<Value = unknown> {
  /**
   * Reads versions: the newest ones, or those before `before` (`next` of a page). `limit` is 20 by default. Edits of one
   * author are one version unless they pause for `pauseMs`, by default five minutes.
   */
  page(options?: {
    readonly before?: number;
    readonly limit?: number;
    readonly pauseMs?: number;
  }): Promise<DocumentHistoryPage>;
  /** Resolves with the JSON of a version; null where the row or the document did not exist. Rejects like RowHistory.at. */
  at(version: number): Promise<Value | null>;
  /** Resolves with the operations that turn one version into the other. Rejects like `at`. */
  diff(from: number, to: number): Promise<readonly DocumentOperation[]>;
  /**
   * Writes the document of a version, as a new edit that merges like any other. To undo it, restore the version before it:
   * `client.undo` refuses edits of documents. Rejects like RowHistory.restore, and with `document-gone` if the version has
   * no document.
   */
  restore(version: number): Promise<void>;
}

/** The state of a live query. An error is a value here, because a later commit may make the query work again. */
export interface LiveState<Row> {
  /**
   * The last known rows, also while `error` is set. Unchanged rows keep their object identity.
   */
  readonly rows: readonly Row[];
  readonly error: RockpoolError | null;
  /** True until the first result or error. */
  readonly loading: boolean;
}

export interface LiveQuery<Row> extends Subscribable<LiveState<Row>> {
  /**
   * Calls the listener at once if a result is known, and after every change, until the returned function is called or
   * the signal aborts.
   */
  subscribe(listener: (state: LiveState<Row>) => void, options?: { readonly signal?: AbortSignal }): () => void;
  /**
   * Iterates over the states, starting with the current one. A slow loop skips to the newest state. Ends when the loop
   * exits or the client closes.
   *
   * ```ts
   * for await (const { rows } of client.live<Todo>(sql`SELECT * FROM todo`)) draw(rows);
   * ```
   */
  [Symbol.asyncIterator](): AsyncGenerator<LiveState<Row>, void, void>;
}

/**
 * A document that is open in this page: its JSON, and the Y.Doc that editors bind to. Returned by `client.document`.
 */
export interface LiveDocument<Value = unknown> extends Subscribable<LiveDocumentState<Value>> {
  /**
   * The Y.Doc that editors bind to. Rockpool writes its changes to the database in the background, each as a JSON
   * change that merges with the changes of others. Changes made elsewhere, in any tab or on another device, appear in
   * it. Only the JSON leaves this page: positions in the Y.Doc mean nothing elsewhere (`awareness` translates those of
   * cursors), nor do formats of a text that is not declared as `richText`.
   */
  readonly doc: Doc;
  /**
   * Returns the Y.Text at a path of member names, with `{ id: 'x' }` for the array element that has this key. Null if
   * there is no text at the path that merges by character, with or without formats. Replacing a whole object also
   * replaces its texts. Positions count UTF-16 units; an operation that would start or end inside a surrogate pair
   * throws `document-invalid` and changes nothing.
   *
   * ```ts
   * new QuillBinding(document.text('body'), quill, document.awareness);
   * ```
   */
  text(...path: DocumentPath): Text | null;
  /** Changes the document to the return value of `next`, with the fewest operations. */
  change(next: (value: Value) => Value): void;
  /** Undoes and redoes the changes made in this page through `doc` or `change`. */
  readonly undoManager: UndoManager;
  /**
   * The other tabs that have this document open, with their cursors: the Awareness of y-protocols for editor bindings
   * (y-codemirror, y-quill). Reading it also shows this tab to the others. `user` is never sent: in the states of
   * others it holds the name (or principal) that the server verified, and a colour.
   */
  readonly awareness: Awareness;
  /** Opens the history of the document. Rejects like `client.history`. */
  history(): Promise<DocumentHistory<Value>>;
  /** Resolves when all changes made here are committed. Rejects with the error that prevents it. */
  saved(): Promise<void>;
  /** Writes pending changes, then closes the document. */
  close(): Promise<void>;
}

/** An open document as it is now. */
export interface LiveDocumentState<Value = unknown> {
  /** The JSON of the document in this page, read at the first access; null when the document is gone. */
  readonly value: Value | null;
  /** `gone`: the row was deleted or its column set to NULL. Later changes in this page are not written. */
  readonly state: 'open' | 'gone' | 'closed';
  /** Why the document cannot be written, for example an image in a text. The next change retries. */
  readonly error: Error | null;
}
