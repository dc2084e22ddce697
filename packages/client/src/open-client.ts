import { RockpoolError, type Schema } from '@rockpool/shared';
import type { Client, SyncControl } from './client.ts';
import type { ClientOptions, SyncOptions } from './interface/client-options.ts';
import type { TransactionOptions, Write } from './interface/writes.ts';
import type { SqlStatement, StatementResult } from './rpc/sql-statement.ts';
import type { SqlParam } from './rpc/sql-value.ts';
import { ClientSession, type ClientEnvironment } from './client-session.ts';
import { liveQueryInspections } from './live-query-inspection.ts';
import type { Branches } from './open-branch.ts';
import { loadPart } from './load-part.ts';
import { newId } from './new-id.ts';
import type { RejectedChangeset } from './rpc/rejected-changeset.ts';
import { toKeyValues } from './rpc/row-key.ts';
import { decodeRows } from './rpc/rows-transfer.ts';
import { toStatementResult } from './rpc/statement-result.ts';
import { checkOptions } from './tab/check-options.ts';
import { OwnTransactions } from './tab/own-transactions.ts';
import { createRejectedStore } from './tab/rejected-store.ts';
import { toResultColumns } from './tab/result-columns.ts';
import { toStatement } from './tab/sql.ts';
import { streamRows } from './tab/stream-rows.ts';
import { SyncedWrites } from './tab/synced-writes.ts';
import { interruptionBy, runTransaction, type OwnOptions, type TransactionSource } from './tab/transaction.ts';
import { UndoHistory } from './tab/undo-history.ts';

/** Late enough for the app's first queries and their rows. */
const DOCUMENTS_AFTER_MS = 2_000;

/** See createClient. */
export async function openClient(options: ClientOptions, environment: ClientEnvironment): Promise<Client> {
  checkOptions(options);
  return openChecked(options, environment);
}

/** Like openClient, but also accepts the name of a branch, which openClient rejects. */
async function openChecked(options: ClientOptions, environment: ClientEnvironment): Promise<Client> {
  const { name, schema, sync } = options;
  const session = new ClientSession(options, environment);
  await session.open();
  const { live, presence, status } = session;
  // Imported on first use, because it loads Yjs into the page.
  const documents = (): Promise<typeof import('./open-client-document.ts')> =>
    loadPart('documents', () => import('./open-client-document.ts'));
  const rareCalls = (): Promise<typeof import('./rare-calls.ts')> =>
    loadPart('history', () => import('./rare-calls.ts'));
  const branches = async (): Promise<Branches> =>
    (await rareCalls()).branchesOf({
      origin: client,
      options,
      environment,
      openClient: openChecked,
      loadDocuments: documents,
      onProblem: session.onProblem,
    });
  const client: Client = {
    name,
    ...readsOf(session),
    ...writesOf(session, sync !== undefined),
    rejected: rejectedOf(session),
    outbox: {
      list: ({ limit = 100 } = {}) => session.call((worker) => worker.waiting(limit)),
      withdraw: async (id) => (await session.write([], { kind: 'withdraw', id })).length > 0,
    },
    live: <Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      live.live<Row>(toStatement(given, params)),
    async document(table, key, column) {
      return (await documents()).openClientDocument(session, schema, table, key, column, () =>
        client.history(table, key),
      );
    },
    history: async (table, key) =>
      (await rareCalls()).openRowHistory(client, session, options, { table, key, loadDocuments: documents }),
    past: async (moment, given) =>
      (await loadPart('history', () => import('./open-past.ts'))).openPast(client, session, schema, moment, given),
    planRestore: async (selection) =>
      (await rareCalls()).openRestorePlan(client, session, options, { selection, loadDocuments: documents }),
    branch: async (branch) => (await branches()).create(branch),
    openBranch: async (branch) => (await branches()).open(branch),
    listBranches: async () => (await branches()).list(),
    presence: presence.about(''),
    status,
    sync: syncControlOf(session, sync, rareCalls),
    async leave(given) {
      if (!given?.discardUnsent) await (await rareCalls()).requireAllSent(session);
      await session.close();
      await environment.deleteDatabase(name);
    },
    close: () => session.close(),
  };
  liveQueryInspections.set(client, live);
  if (environment.page() !== null) loadEarly(schema, documents);
  return client;
}

/** Fetches the code of documents, because a user may open the first one without a network. */
function loadEarly({ tables }: Schema, documents: () => Promise<unknown>): void {
  if (tables.some(({ merge }) => merge.documents.length > 0))
    setTimeout(() => documents().catch(() => undefined), DOCUMENTS_AFTER_MS);
}

function syncControlOf(
  session: ClientSession,
  sync: SyncOptions | undefined,
  rareCalls: () => Promise<typeof import('./rare-calls.ts')>,
): SyncControl {
  return {
    pause: async () => void (await session.write([], { kind: 'pause-sync' })),
    resume: async () => void (await session.write([], { kind: 'resume-sync' })),
    tryNow: () => session.call((worker) => worker.syncNow()),
    async upToDate(given) {
      const interruption = interruptionBy(given?.signal); // The code may still load.
      try {
        const reached = rareCalls().then((calls) => calls.untilUpToDate(session, sync, given));
        await Promise.race([reached, interruption.promise]);
      } finally {
        interruption.stop();
      }
    },
  };
}

function readsOf(session: ClientSession): Pick<Client, 'query' | 'columns' | 'stream' | 'rowSyncState' | 'backup'> {
  return {
    async query<Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]): Promise<Row[]> {
      const statement = toStatement(given, params);
      return decodeRows(await session.call((worker) => worker.query(statement))) as Row[];
    },
    async columns(given: SqlStatement | string, params?: readonly SqlParam[]) {
      const statement = toStatement(given, params);
      return toResultColumns(await session.call((worker) => worker.query(statement)));
    },
    stream: <Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      streamRows(session, toStatement(given, params)) as AsyncGenerator<Row[], void, void>,
    rowSyncState: (table, key) => session.call((worker) => worker.rowSyncState(table, toKeyValues(key))),
    backup: () => session.call((worker) => worker.backup()),
  };
}

type Writes = Pick<Client, 'execute' | 'batch' | 'transaction' | 'undo' | 'redo' | 'conflicts'>;

function writesOf(session: ClientSession, hasServer: boolean): Writes {
  const history = new UndoHistory({
    undo: (requestId, newRequestId) => session.write([], { kind: 'undo', requestId }, newRequestId),
    newId,
  });
  const synced = syncedWritesOf(session, hasServer);
  const own = new OwnTransactions();
  const transactions: TransactionSource = {
    transact: (transactionId, ask) => session.call((worker) => worker.transact(transactionId, ask)),
    commit: async (transactionId) => session.status.hear(await session.call((worker) => worker.commit(transactionId))),
  };

  function begin<T>(run: (requestId: string) => Promise<T>, requestId: string = newId()): Write<T> {
    return synced.beside(
      requestId,
      history.remember(
        requestId,
        own.write(() => run(requestId)),
      ),
    );
  }

  return {
    execute<Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]) {
      const statement = toStatement(given, params);
      return begin((requestId) => execute<Row>(session, requestId, statement));
    },
    batch(given, options) {
      const statements = given.map((statement) => toStatement(statement));
      return begin((requestId) => batch(session, requestId, statements, options?.atomic));
    },
    transaction: (body, options: TransactionOptions & OwnOptions = {}) =>
      begin(
        (requestId) => session.accept(() => runTransaction(transactions, requestId, body, options, own)),
        options.requestId,
      ),
    undo: () => history.undo(),
    redo: () => history.redo(),
    conflicts: {
      restore: async (id) =>
        void (await begin((requestId) => session.write([], { kind: 'restore-conflict', conflictId: id }, requestId))),
    },
  };
}

function syncedWritesOf(session: ClientSession, hasServer: boolean): SyncedWrites {
  const { status } = session;
  const synced = new SyncedWrites({
    requireServer: () => {
      if (!hasServer) throw new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
    },
    writeStates: async (requestIds) => {
      const { states, update } = await session.call((worker) => worker.writeStates(requestIds));
      status.hear(update);
      return states;
    },
    status,
  });
  session.beforeClose(() => synced.end(new RockpoolError('client-closed')));
  return synced;
}

async function execute<Row extends object>(
  session: ClientSession,
  requestId: string,
  statement: SqlStatement,
): Promise<StatementResult<Row>> {
  const [result] = await batch(session, requestId, [statement]);
  return result as StatementResult<Row>; // There is one for each statement.
}

async function batch(
  session: ClientSession,
  requestId: string,
  statements: readonly SqlStatement[],
  atomic?: boolean,
): Promise<StatementResult[]> {
  const outcomes = await session.write(statements, atomic ? { kind: 'atomic' } : undefined, requestId);
  return outcomes.map((outcome) => toStatementResult(outcome));
}

function rejectedOf(session: ClientSession): Client['rejected'] {
  const { status, onProblem } = session;
  const list = (): Promise<RejectedChangeset[]> => session.call((worker) => worker.rejected());
  return Object.assign(createRejectedStore({ list, status, onProblem }), {
    list,
    retry: async (sequence: number) => void (await session.write([], { kind: 'retry-rejected', sequence })),
    replace: async (sequence: number, given: readonly (SqlStatement | string)[]) =>
      void (await session.write(
        given.map((statement) => toStatement(statement)),
        { kind: 'replace-rejected', sequence },
      )),
    drop: async (sequence: number) => void (await session.write([], { kind: 'drop-rejected', sequence })),
  });
}
