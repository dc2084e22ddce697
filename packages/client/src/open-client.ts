import { encodeSchema, quoteName, RockpoolError, type TableSchema } from '@rockpool/shared';
import { proxy, type Remote } from 'comlink';
import type { Client, ClientOptions, Write } from './client.ts';
import { newId } from './new-id.ts';
import { reportUncaught } from './rpc/error-transfer.ts';
import { checkOptions } from './tab/check-options.ts';
import { createTabPresence, type TabPresence } from './tab/tab-presence.ts';
import { createLiveQueries } from './tab/live-queries.ts';
import { liveQueryInspections } from './live-query-inspection.ts';
import { followPageLifecycle, type PageEvents } from './tab/page-lifecycle.ts';
import { requireAllSent } from './tab/require-all-sent.ts';
import { toResultColumns } from './tab/result-columns.ts';
import { streamRows, type StreamSource } from './tab/stream-rows.ts';
import { toStatement } from './tab/sql.ts';
import { readMigrations } from './tab/read-migrations.ts';
import { createRejectedStore } from './tab/rejected-store.ts';
import { createStatusStore } from './tab/status-store.ts';
import { SyncedWrites } from './tab/synced-writes.ts';
import { OwnTransactions } from './tab/own-transactions.ts';
import { runTransaction, type TransactionSource } from './tab/transaction.ts';
import { UndoHistory } from './tab/undo-history.ts';
import { createTabWorker } from './tab/tab-worker.ts';
import { createTokenSource } from './tab/token-source.ts';
import type { WorkerConnection } from './tab/worker-connection.ts';
import { decodeRows } from './rpc/rows-transfer.ts';
import { toKeyValues, type RowKey } from './rpc/row-key.ts';
import { withSent } from './rpc/row-sync-state.ts';
import type { RejectedChangeset } from './rpc/rejected-changeset.ts';
import { INITIAL_STATUS } from './rpc/sync-status.ts';
import type { SqlStatement, StatementOutcome, StatementResult } from './rpc/sql-statement.ts';
import { toStatementResult } from './rpc/statement-result.ts';
import type { SqlParam } from './rpc/sql-value.ts';
import type { WriteAction } from './rpc/write-action.ts';
import type { TabApi, WorkerApi, WorkerEvent } from './rpc/worker-api.ts';

/** A stuck worker must not keep a page from closing its client. A hand-over takes 3 s at most. */
const CLOSE_DEADLINE_MS = 3_000;

/** A reachable server answers in a fraction of this, unless it has to build the file first. */
const FIRST_SYNC_WITHIN_MS = 3_000;

/** The environment of a client: a page, or its replacement. */
export interface ClientEnvironment {
  /** Starts the worker that opens the database. `onProblem`: see connectWorker. */
  connect(onProblem: (error: RockpoolError) => void): WorkerConnection;
  /** Null if there is no page that can be left. */
  page(): PageEvents | null;
  deleteDatabase(name: string): Promise<void>;
}

/** See createClient. */
export async function openClient(options: ClientOptions, environment: ClientEnvironment): Promise<Client> {
  checkOptions(options);
  const {
    name,
    schema,
    migrations,
    sync = null,
    durability = 'relaxed',
    persistence = 'durable',
    onError = reportUncaught,
  } = options;

  const target =
    sync === null
      ? null
      : {
          url: sync.url,
          databaseId: sync.databaseId,
          principal: sync.principal ?? null,
          firstSyncWithinMs:
            sync.firstSync === undefined ? null : (sync.firstSync.answerWithinMs ?? FIRST_SYNC_WITHIN_MS),
        };
  const openOptions = {
    name,
    schema: encodeSchema(schema),
    migrations: migrations === undefined ? null : readMigrations(migrations).migrations,
    sync: target,
    durability,
    persistence,
  };

  function onProblem(error: RockpoolError): void {
    // What lies in memory would be gone with its worker.
    if (error.code === 'worker-stuck' && persistence !== 'memory') connection.restart(error);
    else onError(error);
  }

  const open = async (worker: Remote<WorkerApi>): Promise<void> =>
    status.hear(await worker.open(openOptions, proxy(tab)));
  const connection = createTabWorker({
    connect: () => environment.connect(onError),
    reopen: async (worker) => {
      await open(worker);
      live.watchAgain();
      presence.showAgain();
    },
    onProblem: onError,
    onStuck: (stuck) => {
      status.set({ ...status.current, state: 'opening', role: 'none', reason: stuck.toData(), waitingFor: null });
      onError(stuck);
    },
  });
  const live = createLiveQueries({
    watch: (queryId, statement) => connection.call((worker) => worker.watch(queryId, statement)),
    unwatch: (queryId) => connection.call((worker) => worker.unwatch(queryId)),
    runs: () => connection.call((worker) => worker.liveQueryRuns()),
  });
  const presence: TabPresence = createTabPresence({
    tabId: newId(),
    show: (tabId, states) => connection.call((worker) => worker.showPresence(tabId, states)),
    onProblem: onError,
  });
  const status = createStatusStore({
    ...INITIAL_STATUS,
    // What `durable` comes to is known when the worker has answered, and nobody sees this before.
    persistence: persistence === 'durable' ? INITIAL_STATUS.persistence : persistence,
    role: 'none',
  });

  const askToken = sync === null ? null : createTokenSource({ token: sync.token, onError });
  const tab: TabApi = {
    onEvent: (event: WorkerEvent): void => {
      if (event.kind === 'status') status.hear(event.update);
      else if (event.kind === 'problem') onProblem(RockpoolError.fromData(event.error));
      else if (event.kind === 'first-sync')
        sync?.firstSync?.onProgress?.({ receivedBytes: event.receivedBytes, totalBytes: event.totalBytes });
      else if (event.kind === 'presence') presence.hear(event.update);
      else live.onEvent(event);
    },
    token: async () => {
      if (askToken === null) throw new RockpoolError('internal', { asked: 'token' });
      return askToken();
    },
  };

  try {
    await connection.call(open);
    if (persistence !== 'memory') connection.watch();
  } catch (error) {
    connection.end(new RockpoolError('client-closed'));
    throw error;
  }

  const page = environment.page();
  const stopFollowing =
    page === null
      ? (): void => undefined
      : followPageLifecycle(
          page,
          () => void connection.call((worker) => worker.suspend()).catch(onError),
          () => void connection.call((worker) => worker.resume()).catch(onError),
          () => void connection.call((worker) => worker.online()).catch(onError),
          () => {
            // In whatever tab sync runs. Where that tab does not answer, the next write says so.
            if (sync !== null) connection.call((worker) => worker.syncNow()).catch(() => undefined);
          },
        );

  const closed = new RockpoolError('client-closed');
  let closing: Promise<void> | null = null;

  async function call<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
    if (closing !== null) throw closed;
    return connection.call(run);
  }

  async function write(
    statements: readonly SqlStatement[],
    action?: WriteAction,
    requestId: string = newId(),
  ): Promise<readonly StatementOutcome[]> {
    const { outcomes, update } = await call((worker) => worker.write(statements, action, requestId));
    status.hear(update);
    return outcomes;
  }
  const history = new UndoHistory({
    undo: (requestId, newRequestId) => write([], { kind: 'undo', requestId }, newRequestId),
    newId,
  });
  const synced = new SyncedWrites({
    requireServer: () => {
      if (sync === null) throw new RockpoolError('config-invalid', { problem: 'there is no server to sync with' });
    },
    writeStates: async (requestIds) => {
      const { states, update } = await call((worker) => worker.writeStates(requestIds));
      status.hear(update);
      return states;
    },
    status,
  });

  async function execute<Row extends object>(
    requestId: string,
    given: SqlStatement | string,
    params?: readonly SqlParam[],
  ): Promise<StatementResult<Row>> {
    const [outcome] = await write([toStatement(given, params)], undefined, requestId);
    if (outcome === undefined) throw new RockpoolError('internal', { results: 0 });
    return toStatementResult<Row>(outcome);
  }

  async function batch(requestId: string, given: readonly SqlStatement[], atomic: boolean): Promise<StatementResult[]> {
    const statements = given.map((statement) => toStatement(statement, undefined));
    return (await write(statements, atomic ? { kind: 'atomic' } : undefined, requestId)).map((outcome) =>
      toStatementResult(outcome),
    );
  }

  const streams: StreamSource = {
    openStream: (streamId, statement) => call((worker) => worker.openStream(streamId, statement)),
    nextChunk: (streamId) => call((worker) => worker.nextChunk(streamId)),
    closeStream: (streamId) => call((worker) => worker.closeStream(streamId)),
  };
  const own = new OwnTransactions();
  const transactions: TransactionSource = {
    transact: (transactionId, ask) => call((worker) => worker.transact(transactionId, ask)),
    commit: async (transactionId) => status.hear(await call((worker) => worker.commit(transactionId))),
  };

  function begin<T>(run: (requestId: string) => Promise<T>): Write<T> {
    const requestId = newId();
    return synced.beside(
      requestId,
      history.remember(
        requestId,
        own.write(() => run(requestId)),
      ),
    );
  }

  async function close(): Promise<void> {
    stopFollowing();
    live.end(closed);
    presence.end();
    synced.end(closed);
    let deadline: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<void>((resolve) => {
      deadline = setTimeout(resolve, CLOSE_DEADLINE_MS);
    });
    try {
      await Promise.race([connection.call((worker) => worker.close()), overdue]);
    } finally {
      clearTimeout(deadline);
      connection.end(closed);
    }
  }

  const list = async (): Promise<RejectedChangeset[]> => [...(await call((worker) => worker.rejected()))];
  const rejected = createRejectedStore({ list, status, onProblem: onError });

  const client: Client = {
    name,
    async query<Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]): Promise<Row[]> {
      const statement = toStatement(given, params);
      return decodeRows(await call((worker) => worker.query(statement))) as Row[];
    },
    async columns(given: SqlStatement | string, params?: readonly SqlParam[]) {
      const statement = toStatement(given, params);
      return toResultColumns(await call((worker) => worker.query(statement)));
    },
    stream: <Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      streamRows(streams, toStatement(given, params)) as AsyncGenerator<Row[], void, void>,
    execute: <Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      begin((requestId) => execute<Row>(requestId, given, params)),
    batch: (given, { atomic = false } = {}) => begin((requestId) => batch(requestId, given, atomic)),
    transaction: (body, transactionOptions = {}) =>
      begin((requestId) => runTransaction(transactions, requestId, body, transactionOptions, own)),
    async rowSyncState(table, key) {
      const rowSyncState = await call((worker) => worker.rowSyncState(table, toKeyValues(key)));
      return withSent(rowSyncState, status.current.sentUpTo ?? 0);
    },
    sync: {
      pause: async () => void (await write([], { kind: 'pause-sync' })),
      resume: async () => void (await write([], { kind: 'resume-sync' })),
      tryNow: () => call((worker) => worker.syncNow()),
    },
    undo: () => history.undo(),
    redo: () => history.redo(),
    rejected: Object.assign(rejected, {
      list,
      retry: async (sequence: number) => void (await write([], { kind: 'retry-rejected', sequence })),
      replace: async (sequence: number, given: readonly (SqlStatement | string)[]) =>
        void (await write(
          given.map((statement) => toStatement(statement, undefined)),
          { kind: 'replace-rejected', sequence },
        )),
      drop: async (sequence: number) => void (await write([], { kind: 'drop-rejected', sequence })),
    }),
    conflicts: {
      restore: async (id) => void (await write([], { kind: 'restore-conflict', conflictId: id })),
    },
    live: <Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      live.live<Row>(toStatement(given, params)),
    async document<Value>(tableName: string, rowKey: RowKey, column: string) {
      const key = toKeyValues(rowKey);
      const table = schema.tables.find((candidate) => candidate.name === tableName);
      if (table === undefined) throw new RockpoolError('document-unknown', { table: tableName, column });
      // Only here: it brings Yjs into the page.
      const { openDocument } = await import('./document/open-document.ts');
      const change = async (changeJson: string): Promise<string> => {
        const [outcome] = await write([], { kind: 'change-document', table: tableName, key, column, changeJson });
        const [row] = outcome === undefined ? [] : toStatementResult<{ text: string }>(outcome).rows;
        if (row === undefined) throw new RockpoolError('document-gone', { table: tableName, column });
        return row.text;
      };
      const statement = documentQuery(table, key, column);
      const read = async (): Promise<unknown> =>
        decodeRows(await call((worker) => worker.query(statement)))[0]?.['text'] ?? null;
      const topic = `${tableName}/${column}/${key.map(String).join('\u0000')}`;
      return openDocument<Value>(
        {
          read,
          change,
          follow: (listener) => live.live(statement).subscribe(listener),
          presence: presence.about(topic),
        },
        { table, column },
      );
    },
    presence: presence.about(''),
    status,
    backup: () => call((worker) => worker.backup()),
    async leave({ discardUnsent = false } = {}) {
      if (!discardUnsent)
        await requireAllSent(async (statement) => decodeRows(await call((worker) => worker.query(statement))));
      await (closing ??= close());
      await environment.deleteDatabase(name);
    },
    close: () => (closing ??= close()),
  };
  liveQueryInspections.set(client, () => live.inspect());
  return client;
}

function documentQuery(table: TableSchema, key: readonly SqlParam[], column: string): SqlStatement {
  const match = table.primaryKey.map((name) => `${quoteName(name)} = ?`).join(' AND ');
  return { sql: `SELECT ${quoteName(column)} AS "text" FROM ${quoteName(table.name)} WHERE ${match}`, params: key };
}
