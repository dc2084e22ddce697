import type { RockpoolError, Schema } from '@rockpool/shared';
import type { LiveDocument } from './document/live-document.ts';
import type { RejectedChange, RejectedChangeset, RejectedValue } from './rpc/rejected-changeset.ts';
import type { Persistence, PersistenceChoice } from './rpc/persistence.ts';
import type { RowKey } from './rpc/row-key.ts';
import type { ChangeStage, ChangeSyncState, RowSyncState } from './rpc/row-sync-state.ts';
import type { SqlStatement, StatementResult } from './rpc/sql-statement.ts';
import type { SqlParam, SqlRow, SqlValue } from './rpc/sql-value.ts';
import type { StuckStage, SyncRemedy, SyncStage, SyncState, SyncStatus, TabRole } from './rpc/sync-status.ts';
import type { Durability } from './rpc/worker-api.ts';
import type { TokenAnswer } from './tab/token-source.ts';

// The whole public interface. create-client.ts wires what is declared here.
export { INITIAL_STATUS } from './rpc/sync-status.ts';
export type {
  ChangeStage,
  Durability,
  LiveDocument,
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
  TokenAnswer,
};

export interface ClientOptions {
  /**
   * Names the database on this device: all tabs of this origin that give the same name share one. Letters, digits, `_`,
   * `-` and `.`, at most 64.
   */
  readonly name: string;
  /** What `defineSchema` returned. */
  readonly schema: Schema;
  /**
   * What drizzle-kit generated. Without it the database is brought to the schema by adding tables, columns and indexes;
   * with it the migrations lead there, once per database, all that are new together or none.
   */
  readonly migrations?: DrizzleMigrations;
  /** Without it everything works, on this device alone. */
  readonly sync?: SyncOptions;
  /**
   * Default `relaxed`: a write survives the death of tab, worker and browser. `strict` survives power loss too: it
   * resolves after a flush, which writes that wait at the same time share. Where that fails it rejects with
   * `storage-unflushed`: it is committed, and sent, and not to be made again; power loss may take it here.
   */
  readonly durability?: Durability;
  /**
   * Where the database is kept. Default `durable`: the best of this browser that lasts, which `status.persistence`
   * names. Another choice takes that and nothing else, with a database of its own for `indexeddb` and for `memory`.
   * `memory` keeps nothing when the tab closes and shares nothing between tabs; Rockpool never falls back to it by
   * itself.
   */
  readonly persistence?: PersistenceChoice;
  /**
   * Called with failures that no call is waiting for, for example of a background task. Default: the page's `error`
   * event, as for any error that nobody caught.
   */
  readonly onError?: (error: RockpoolError) => void;
}

/** The journal `meta/_journal.json` of drizzle-kit and the SQL files, by `m0000`, by tag or by path, as text. */
export interface DrizzleMigrations {
  readonly journal: { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };
  readonly migrations: Readonly<Record<string, string>>;
}

export interface SyncOptions {
  /** The server, `wss://…` (or `ws://` on a trusted network). */
  readonly url: string;
  /** Which of the server's databases to sync with. */
  readonly databaseId: string;
  /**
   * Who is signed in, by an id that stays: then the unsent changes of one person are never sent as another's. What was
   * written before anybody signed in goes to the first who does. Opening as someone else while changes wait fails with
   * `other-principal` and keeps them: sign the first in again, or open under another `name`. Without it that is the
   * app's to see to.
   */
  readonly principal?: string;
  /**
   * Gives a token for the server. Called for every connection, and every download of a snapshot, so it may fetch a
   * fresh one each time.
   *
   * Returns the token, a `Response` whose text is the token (`token: () => fetch('/token')`), or `null` while nobody is
   * signed in.
   *
   * Three kinds of failure, told apart in `status`; all are retried by themselves, and at once by
   * `client.sync.tryNow()`:
   * - **Nobody is signed in**: state `needs-auth`. The callback returns `null`, returns or throws a response of 401 or
   *   403, or throws a `RockpoolError` such as
   *   `new RockpoolError('auth-database-forbidden')`.
   * - **The app's own server cannot be reached**: state `offline`, reason `network-unreachable` with `stage: 'token'`,
   *   and `status` where there is one. `fetch`
   *   failed, a deadline passed, or the response is 408, 425, 429 or 5xx.
   * - **The callback failed**: state `blocked`, reason `token-callback-failed`, and `onError` gets the error, with what
   *   was thrown as its `cause`. Anything else
   * that is thrown, any other HTTP status, and a return value that is no string, is empty or has characters that no
   *   bearer token has.
   *
   * An HTTP status is read from a `Response`, and from an error's `status`, `statusCode` or `response.status`. A
   * callback that does not settle within 15 s counts as unreachable.
   */
  readonly token: () => Promise<TokenAnswer> | TokenAnswer;
  /**
   * For a device that has nothing yet: opening fetches the server's state as one file and puts it in place, many times
   * faster than row by row. Opening then waits for the network, once in the life of a database: `answerWithinMs`
   * (default 3000) for the token, for the answer to begin, and for a file that is still being built, and as long as
   * bytes come. Without an answer, or where the server's database is small, it opens empty and fills as it syncs.
   * Default: opening never waits, and the file is fetched beside the work.
   */
  readonly firstSync?: {
    readonly answerWithinMs?: number;
    /**
     * Bytes as they travel, in every tab; also later, when a device that was away for too long takes the server's state
     * anew: `status.snapshot` says it too then.
     */
    readonly onProgress?: (progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void;
  };
}

/** One client per tab and database; get it from `createClient`. */
export interface Client {
  readonly name: string;

  /**
   * Runs one statement that reads, on this tab's own connection: it sees every commit that has resolved, in any tab.
   */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;

  /**
   * Runs one statement that reads and gives its result by column, as charts want it, without making an object of each
   * row.
   */
  columns(statement: SqlStatement): Promise<ResultColumns>;
  columns(sql: string, params?: readonly SqlParam[]): Promise<ResultColumns>;

  /**
   * Runs one statement that reads and gives its rows some thousand at a time, as the loop takes them: neither the page
   * nor its worker is busy for longer than half a frame in one go. All rows are of one moment, whatever is written
   * meanwhile. On storage with room for one connection only (`opfs-exclusive`, `indexeddb`) the worker reads all of it
   * at once.
   *
   * A page that is hidden for good in the middle ends it: the loop throws `storage-lost` when it goes on.
   *
   * ```ts
   * for await (const rows of client.stream<Entry>('SELECT * FROM entry')) await send(rows);
   * ```
   */
  stream<Row extends object = SqlRow>(statement: SqlStatement): AsyncGenerator<Row[], void, void>;
  stream<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): AsyncGenerator<Row[], void, void>;

  /**
   * Runs one statement that writes, as a transaction of its own. Resolves when it is committed and will survive this
   * tab; with `RETURNING` it gives rows.
   */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Write<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Write<StatementResult<Row>>;

  /**
   * Runs all statements in one atomic transaction: all of them take effect or none. Results come in the order of the
   * statements.
   */
  batch(statements: readonly SqlStatement[], options?: BatchOptions): Write<StatementResult[]>;

  /**
   * Runs reads and writes that belong together as one transaction, which is one changeset. Commits when `body`
   * resolves, and resolves with its value when that is durable; takes everything back when `body` throws. The
   * transaction sees its own writes, nobody else does, and nobody's reads wait for it; the writes of all tabs do, so do
   * not wait for the network or a person in it. Statements of `tx` that were not awaited are part of it.
   *
   * Rejects with what `body` threw, with the reason of `signal`, and with
   * - `transaction-timeout`: it was open for longer than `timeoutMs`
   * - `write-in-transaction` (of a write beside `tx`, such as `client.execute`): the body waits for a write that waits
   *   for the end of the transaction. Write through `tx`
   * - `transaction-lost`: the tab that leads went away in the middle; nothing of it was kept, and it may be run again
   * - `leader-unreachable`: its turn did not come within ten seconds
   * - `transaction-ended` (of `tx`): it was used after its end
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
  /** Sync with the server, for all tabs of this device. What it is doing is `status`. */
  readonly sync: SyncControl;

  /**
   * Takes the last transaction of this tab back: `execute`, `batch` and `transaction`, newest first, as far back as a
   * day. It is a new write of the old values, which syncs like any other; what others wrote in other columns stays, and
   * what it added to counters is taken off. Resolves with false when there is nothing to take back; what changed no
   * synced row is passed over.
   *
   * Rejects with `undo-refused`, whose field `problem` says why, and changes nothing: `changed`, `row-gone`,
   * `row-back`, `referred-to`, `rejected`, `document`, `forgotten`, `schema`, or a constraint. The next `undo` goes on
   * with the transaction before.
   */
  undo(): Promise<boolean>;
  /** Does again what `undo` took back, as long as nothing was written since. Resolves and rejects as `undo` does. */
  redo(): Promise<boolean>;

  /**
   * Transactions of this device that were refused, after the fact, because of what others had written.
   * `status.rejectedCount` says how many.
   */
  readonly rejected: RejectedChangesets;
  /** The conflict log; its entries are the rows of the table `rockpool_conflict`, which any query may read. */
  readonly conflicts: Conflicts;

  /**
   * Opens the document of one row, for editors and for changes of its JSON: see LiveDocument. Changes by SQL appear in
   * it, and the reverse. Loads Yjs into the page. Rejects with `document-unknown`
   * for a column that the schema does not declare as a document, and `document-gone` when the row is not there or holds
   * NULL.
   *
   * ```ts
   * const page = await client.document<{ body: string }>('page', [id], 'content');
   * page.change((value) => ({ ...value, body: `${value.body}!` }));
   * await page.saved();
   * ```
   */
  document<Value = unknown>(table: string, key: RowKey, column: string): Promise<LiveDocument<Value>>;

  /** Who else has this database open now, and what they show of themselves. */
  readonly presence: Presence;

  /**
   * A query that stays current. It runs while somebody is subscribed. Asking again for the same statement with the same
   * parameters gives the same object for as long as somebody holds it, so it may be asked for wherever it is needed.
   * What the query leaves open, as `ORDER BY day LIMIT 20` does among rows of one day, may be chosen otherwise than if
   * it ran anew: end the order with the key.
   */
  live<Row extends object = SqlRow>(statement: SqlStatement): LiveQuery<Row>;
  live<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): LiveQuery<Row>;

  /** The status of sync and of this tab. */
  readonly status: Subscribable<SyncStatus>;

  /**
   * All that is committed as one plain SQLite file, for `restoreDatabase`; one moment of it, whatever is written
   * meanwhile. Where only one tab may open the storage, that one makes it, within ten seconds or it is
   * `leader-unreachable`.
   */
  backup(): Promise<Blob>;

  /**
   * Closes the client and deletes the database from this device; the server's copy stays. Rejects with `changes-unsent`
   * while the server has not got everything, rejected changes included, unless `discardUnsent`; and with `storage-busy`
   * while another tab has it open.
   */
  leave(options?: { readonly discardUnsent?: boolean }): Promise<void>;

  /**
   * Lets accepted writes end, then leaves nothing behind: no lock, channel or worker. Later calls fail with
   * `client-closed`.
   */
  close(): Promise<void>;
}

/** One tab of somebody, on this device or another. */
export interface Peer<State = unknown> {
  readonly tabId: string;
  /** Names the device's database; 32 hex digits. Tabs of one browser have the same. */
  readonly siteId: string;
  /** As whom they are signed in: what the server found in their token, not what they say. */
  readonly principal: string;
  /** The `name` of that token; null where it has none. */
  readonly name: string | null;
  /** A CSS colour for them, the same in every page; white text can be read on it. */
  readonly color: string;
  /** When this tab first showed something, by the server's clock; ms since 1970. */
  readonly sinceMs: number;
  /** What that tab shows of itself, as JSON. It comes from another device as it is: look before you trust. */
  readonly state: State;
}

/**
 * A value that changes over time. The status, rejected changesets, live queries and presence have this shape. It fits
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

/** The promise of a write, which is settled as soon as it is committed on this device, with a second one beside it. */
export interface Write<T> extends Promise<T> {
  /**
   * Resolves when the server has the write for good; at once where nothing in it is synced. Without a network that
   * takes as long as there is none. It outlives changes of the leading tab; when the page is closed the write is sent
   * all the same.
   *
   * Rejects with what the write itself rejects with, except `storage-unflushed`; with the reason when the server
   * refuses it and it is rejected (`constraint-…`, `atomic-conflict`); with `config-invalid` where there is no server;
   * with `client-closed`.
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
   * Ends the connection and makes none until `resume`, in all tabs, over reloads and restarts of the browser: it is
   * kept with the database. Local work goes on; the status is `paused`. Resolves when that is kept.
   */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * Tries at once instead of at the next attempt (`status.reason.fields.nextAttemptMs`). Does nothing while connected
   * or paused.
   */
  tryNow(): Promise<void>;
}

export interface BatchOptions {
  /**
   * True: the transaction stays whole in the merge too. When any part of it loses to a concurrent write of another
   * device, the server refuses all of it, and it is rejected with `atomic-conflict`. Default false: the part that loses
   * goes into the conflict log, the rest stands.
   */
  readonly atomic?: boolean;
}

/** A result by column. */
export interface ResultColumns {
  readonly rowCount: number;
  /**
   * By name, of two columns with one name the later. Numbers come as a `Float64Array`, in which NULL is NaN; everything
   * else as plain values.
   */
  readonly columns: Readonly<Record<string, Float64Array | readonly SqlValue[]>>;
}

export interface TransactionOptions extends BatchOptions {
  /**
   * How long it may be open, waiting for its turn not counted. More than 0, at most 8000: writes of other tabs wait
   * meanwhile. Default 5000.
   */
  readonly timeoutMs?: number;
  /** Takes everything back when it aborts. Once the body has resolved it is too late. */
  readonly signal?: AbortSignal;
}

/** What a transaction can do, until its body has settled. */
export interface Transaction {
  /** Sees what this transaction wrote so far. */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;
  /** A statement that fails is undone by itself; the transaction goes on, unless the error is let through. */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Promise<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<StatementResult<Row>>;
  /**
   * A transaction within this one, on a savepoint: when `body` throws, only what it wrote is taken back. The outer one
   * cannot be used until it has settled: that is refused with `sql-forbidden`.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T> | T): Promise<T>;
}

/** The rejected changesets of this device, oldest first. `current` is empty until the first listener has read them. */
export interface RejectedChangesets extends Subscribable<readonly RejectedChangeset[]> {
  /** Reads them once. */
  list(): Promise<RejectedChangeset[]>;
  /**
   * Writes the same changes once more, on top of the rows as they are now; counters are added to again. Rejects with
   * what stands against it, and leaves it rejected; so with `row-missing` where a row that it changes has gone; with
   * `changeset-undecided` while the server may yet admit it; with `changeset-not-rejected`.
   */
  retry(sequence: number): Promise<void>;
  /**
   * Writes something else in its place: what it said, edited. The statements run in one transaction and take it off the
   * list, both or neither; if it was `atomic`, they are. Rejects like `retry`, and with what stands against the
   * statements.
   */
  replace(sequence: number, statements: readonly (SqlStatement | string)[]): Promise<void>;
  /** Gives it up. Rejects with `changeset-undecided` and `changeset-not-rejected`. */
  drop(sequence: number): Promise<void>;
}

export interface Conflicts {
  /**
   * Writes what an entry of the ledger lost as a new edit: a value into its cell (with the rest of its group of
   * columns), or into its place in a document; values that went with a deleted row, all that the ledger has of it, into
   * the row, which comes back; a delete that lost to an update, as a delete.
   *
   * Rejects with `conflict-not-restorable`; its field `problem` says why: `unknown`, `schema`, `row-gone`, `counter` or
   * `incomplete`.
   */
  restore(id: string): Promise<void>;
}

/** What a live query knows at one moment. Errors are values here: a later commit may make the query work again. */
export interface LiveState<Row> {
  /**
   * The last rows that are known, also while `error` is set. Rows that did not change are the same objects as before.
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
   * The states one after the other, the present one first; of several that came meanwhile the newest. Ends with the
   * loop, or with the client.
   *
   * ```ts
   * for await (const { rows } of client.live<Todo>(sql`SELECT * FROM todo`)) draw(rows);
   * ```
   */
  [Symbol.asyncIterator](): AsyncGenerator<LiveState<Row>, void, void>;
}
