import type { BranchInfo, BranchMergeOptions, BranchPreview, BranchRowChange } from './interface/branch-merge.ts';
import type { LiveDocument } from './interface/live-document.ts';
import type { LiveQuery } from './interface/live-query.ts';
import type { Outbox } from './interface/outbox.ts';
import type { PastMoment, PastOptions, PastState } from './interface/past-state.ts';
import type { Presence } from './interface/presence.ts';
import type { Conflicts, RejectedChangesets } from './interface/rejections-and-conflicts.ts';
import type { RestorePlan, RestoreSelection } from './interface/restore-plan.ts';
import type { RowHistory } from './interface/row-history.ts';
import type { Subscribable } from './interface/subscribable.ts';
import type { BatchOptions, ResultColumns, Transaction, TransactionOptions, Write } from './interface/writes.ts';
import type { RowKey } from './rpc/row-key.ts';
import type { RowSyncState } from './rpc/row-sync-state.ts';
import type { SqlStatement, StatementResult } from './rpc/sql-statement.ts';
import type { SqlParam, SqlRow } from './rpc/sql-value.ts';
import type { SyncStatus } from './rpc/sync-status.ts';

// The public interface of a client. Its parts are in interface/. open-client.ts implements it.

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
   * Runs one statement that writes, in its own transaction. Resolves when the transaction is committed and survives
   * this tab. A statement with `RETURNING` has rows in its result.
   */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Write<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Write<StatementResult<Row>>;

  /**
   * Runs the statements in one transaction: all of them take effect, or none. Results are in the order of the
   * statements.
   */
  batch(statements: readonly SqlStatement[], options?: BatchOptions): Write<StatementResult[]>;

  /**
   * Runs reads and writes as one transaction, which becomes one changeset. Commits when `body` resolves, and resolves
   * with its value once the commit is durable. Rolls back when `body` throws. Only the transaction sees its own writes
   * before the commit. Reads elsewhere do not wait for it, but writes of all tabs do, so never wait for the network or
   * the user in `body`. Statements of `tx` that `body` does not await still belong to the transaction.
   *
   * Rejects with the error that `body` threw, with the reason of `signal`, and with
   * - `transaction-timeout`: it was open for longer than `timeoutMs`
   * - `write-in-transaction` (from a write outside `tx`, such as `client.execute`): `body` waits for a write that waits
   *   for the transaction to end. Write through `tx`
   * - `transaction-lost`: the leader went away during the transaction. Nothing was kept; run it again
   * - `leader-unreachable`: the transaction could not begin within ten seconds
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
   * Undoes the newest transaction of this tab (`execute`, `batch`, `transaction` or `conflicts.restore`) that is not
   * undone yet, up to a day back. Undo writes the old values as a new transaction, which syncs like any other: values
   * that others wrote in other columns stay, amounts added to counters are subtracted, and edits of documents are
   * reverted, except those of others. Resolves with false if there is nothing to undo. Skips transactions that changed
   * no synced row. Typing in an open document is not a transaction of the tab; `LiveDocument.undoManager` undoes it.
   *
   * Rejects with `undo-refused` and changes nothing if the transaction cannot be undone. The field `problem` is
   * `changed`, `row-gone`, `row-back`, `referred-to`, `rejected`, `forgotten`, `schema`, or a constraint. The next
   * `undo` continues with the transaction before it. After a temporary error, such as `storage-full`, it tries the same
   * transaction again.
   */
  undo(): Promise<boolean>;
  /** Repeats the last undone transaction, unless this tab has written since. Resolves and rejects like `undo`. */
  redo(): Promise<boolean>;

  /** Transactions of this device that wait to be sent or decided. Any of them can be withdrawn. */
  readonly outbox: Outbox;
  /**
   * Transactions of this device that were committed here and later rejected, because they conflict with the writes of
   * others. `status.rejectedCount` is their number.
   */
  readonly rejected: RejectedChangesets;
  /**
   * Restores values from the conflict log. Its entries are the rows of the table `rockpool_conflict`; query it like any
   * table.
   */
  readonly conflicts: Conflicts;

  /**
   * Opens the document of one row, for editors and for changes to its JSON (see `LiveDocument`). Changes made by SQL
   * appear in it, and its changes appear in SQL. Loads Yjs into the page. Rejects with `document-unknown` if the schema
   * does not declare the column as a document, and with `document-gone` if the row does not exist or the column is
   * NULL.
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
   * values that changed. Rejects with `schema-unknown-table`, `history-not-kept` if the schema declares no history for
   * the table, and `key-invalid`.
   *
   * ```ts
   * const history = await client.history('entry', id);
   * const { versions } = await history.page();
   * await history.restore(versions[1].version, { columns: ['amount'] });
   * ```
   */
  history(table: string, key: RowKey): Promise<RowHistory>;

  /**
   * Downloads the database at a past moment, for queries. It has the tables that declare a history, with their current
   * columns, and is held in memory until it is closed. `onProgress` reports the download.
   *
   * Rejects with `history-moment-gone` if versions since the moment are not kept (`reason` is `not-kept`), if nothing
   * was written before it (`before-start`), or if the server does not have the named version (`unknown`); `earliestMs`
   * is the earliest moment that the server may still keep. Rejects with `history-not-kept` if no table declares a
   * history, `version-name-missing`, `auth-forbidden` if the user's role may not read the past, `request-invalid`,
   * `rate-limited` and `network-unreachable`.
   *
   * ```ts
   * const past = await client.past({ time: new Date('2026-03-01') });
   * const rows = await past.query('SELECT category, sum(amount) FROM entry GROUP BY category');
   * await past.close();
   * ```
   */
  past(moment: PastMoment, options?: PastOptions): Promise<PastState>;

  /**
   * Plans to undo what some transactions wrote to tables with a history: all writes of a device or user between two
   * times, such as an import, or the transaction of one version. Resolves with what would change; `apply` of the plan
   * writes it as one ordinary transaction, which syncs, merges and can be undone like any other. Counters lose what the
   * transactions added, and documents lose their edits. A value that was written again since is a conflict.
   *
   * Needs the server. Rejects with `changes-unsent` if this device has not sent a transaction that may be selected,
   * with `history-not-kept`, `schema-unknown-table` and `request-invalid` for the selection, with `history-moment-gone`
   * if versions since the first of the transactions are not kept, with `changeset-too-large`, and like `past`.
   *
   * ```ts
   * const plan = await client.planRestore({ author: 'ann', fromMs: importedMs, toMs: importedMs + 60_000 });
   * if (plan.conflicts.length === 0) await plan.apply();
   * ```
   */
  planRestore(selection: RestoreSelection): Promise<RestorePlan>;

  /**
   * Creates a branch: a copy of this database on this device, in the same storage, to try changes in. It is written
   * and queried like any database and never synced. The copy has everything that is committed now. It survives a
   * reload, except in `memory`. Rejects with `branch-exists`, `branch-of-branch`, `config-invalid` for a name that is
   * not 1 to 32 bytes of UTF-8, and `storage-full`.
   *
   * ```ts
   * const branch = await client.branch('what if');
   * await branch.execute("UPDATE entry SET amount = amount * 2 WHERE category = 'rent'");
   * const { conflicts } = await branch.preview();
   * await branch.merge({ conflicts: 'branch' });
   * ```
   */
  branch(name: string): Promise<Branch>;
  /**
   * Opens a branch that this or another tab created. Rejects with `branch-missing`, also if its creation was
   * interrupted, and then removes what is left of it; and with `branch-ended` if the branch was merged by a tab that
   * could not remove it afterwards.
   */
  openBranch(name: string): Promise<Branch>;
  /** Lists the branches of this database, by name. */
  listBranches(): Promise<readonly BranchInfo[]>;

  /** The other tabs that have this database open now, and the state that each of them shows. */
  readonly presence: Presence;

  /**
   * Returns a live query, which emits again when its result changes. It runs while it has subscribers. Calls with the
   * same statement and parameters return the same object while any reference to it exists, so call it wherever you need
   * it. Where the order is ambiguous (`ORDER BY day LIMIT 20` with equal days), the result may differ from a fresh run
   * of the query: end `ORDER BY` with the key.
   */
  live<Row extends object = SqlRow>(statement: SqlStatement): LiveQuery<Row>;
  live<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): LiveQuery<Row>;

  /** The status of sync and of this tab. */
  readonly status: Subscribable<SyncStatus>;

  /**
   * Resolves with all committed data as one plain SQLite file, for `restoreDatabase`. The file is consistent, even if
   * writes continue. Binary documents are JSONB in it, which other programs read with `json(column)`. On storage that
   * only one tab can open, the leader creates it; the call rejects with `leader-unreachable` if the leader does not
   * begin within ten seconds.
   */
  backup(): Promise<Blob>;

  /**
   * Closes the client and deletes the database and its branches from this device; the server's copy stays. Rejects with
   * `changes-unsent` while changes are pending or rejected, unless `discardUnsent` is true, and with `storage-busy`
   * while another tab has the database open. This client is closed then: when the other tab is closed, call `leave` of
   * a new client, which checks again what that tab has written, or `leave({ discardUnsent: true })` again. The check
   * saves open documents, rejecting like their `saved`, and waits for the writes of this tab; after ten seconds it
   * rejects with `changes-unsent` and `isWriting`. Further writes reject with `client-closed` unless the check fails.
   */
  leave(options?: { readonly discardUnsent?: boolean }): Promise<void>;

  /**
   * Waits up to ten seconds for the writes that have already been requested, then releases every lock, channel and
   * worker, which takes up to three seconds more. Later calls reject with `client-closed`, and so does a write that
   * takes longer, whose outcome is unknown.
   */
  close(): Promise<void>;
}

export interface SyncControl {
  /**
   * Closes the connection and opens none until `resume`, in all tabs. The pause is stored with the database, so it
   * outlasts reloads and restarts of the browser. Local work continues; the state is `paused`. Resolves when the pause
   * is stored.
   */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * Connects now, or repeats a push that the server refused, instead of at the next attempt
   * (`status.reason.fields.nextAttemptMs`). Otherwise does nothing while connected or paused.
   */
  tryNow(): Promise<void>;
  /**
   * Resolves when the state is `up-to-date`: the server has decided all changes of this device, and the device has all
   * that the server has announced. Stays pending without a connection; `status` says why. Rejects with the reason of
   * `signal`, with `config-invalid` if the client has no server, with `code-unloadable` if its code does not load, with
   * `client-closed`, and with the reason in `status` once this tab has ended.
   *
   * ```ts
   * await client.sync.upToDate({ signal: AbortSignal.timeout(10_000) });
   * ```
   */
  upToDate(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * A local copy of a database; see `client.branch`. Its calls reject with `branch-ended` once it has been merged or
 * discarded, in any tab. `live` then returns queries with that error, and those with listeners end with
 * `client-closed`. `close` keeps it; `leave` discards it.
 */
export interface Branch extends Client {
  /** The name that was passed to `client.branch`. */
  readonly branchName: string;
  /** When the branch began, in ms since 1970. */
  readonly begunMs: number;
  /**
   * Resolves with the rows of synced tables that differ from the beginning of the branch, in the order of the schema.
   */
  diff(): Promise<readonly BranchRowChange[]>;
  /** Resolves with what `merge` would write now, and the conflicts. Changes nothing. Rejects like `merge`. */
  preview(): Promise<BranchPreview>;
  /**
   * Writes the changes of the branch to the origin as one ordinary transaction, which syncs, merges and can be undone
   * like any other, and ends the branch. Counters add the branch's difference, columns of a group change together, and
   * documents receive the branch's edits. Open documents of this tab are saved first; `merge` rejects like their
   * `saved`. Writes of this tab to the branch wait for the merge, and then reject with
   * `branch-ended`. After an error, the branch is unchanged, and they run. If the merge is committed but could not be
   * flushed, `onError` receives `storage-unflushed`. Rejects with
   * - `branch-conflicts`: the origin changed the same values since the branch began, and `conflicts` is not set
   * - `branch-schema-changed`: the origin has been migrated since. The branch can still be read
   * - `constraint-…`, `changeset-too-large`, `transaction-timeout`: as for any transaction of the origin
   */
  merge(options?: BranchMergeOptions): Promise<BranchPreview>;
  /** Deletes the branch. */
  discard(): Promise<void>;
}
