import { RockpoolError } from '@rockpool/shared';
import { transfer } from 'comlink';
import { withSent } from '../rpc/row-sync-state.ts';
import { rowsTransferables } from '../rpc/rows-transfer.ts';
import type { StatementOutcome } from '../rpc/sql-statement.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';
import { assembleTab, type OpenTab } from './open-tab.ts';
import { databasesIn } from './storage/databases.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

/** The worker's implementation of the page's calls. */
export function createHost(environment: WorkerEnvironment): WorkerApi {
  let tab: OpenTab | null = null;
  let assembling: Promise<OpenTab> | undefined;

  function opened(): OpenTab {
    if (tab === null) throw new RockpoolError('internal', { called: 'before open' });
    return tab;
  }

  return {
    ...databasesIn(environment),
    async open(options, page) {
      if (tab !== null) throw new RockpoolError('internal', { called: 'open twice' });
      assembling = assembleTab(environment, options, page);
      tab = await assembling;
      await tab.open();
      return tab.reports.latest;
    },
    ...readsOf(opened),
    ...writesOf(opened),
    request: async (path) => opened().request(path),
    past: async (ask, onProgress) => opened().past(ask, onProgress),
    syncNow: async () => opened().membership.syncNow(),
    showPresence: async (tabId, states) => opened().presence.show(tabId, states),
    // The page may be left while the database is still opening.
    suspend: async () => (await assembling)?.suspend(),
    resume: async () => (await assembling)?.resume(),
    // Dispatches the event that workers receive themselves only in some browsers, such as Firefox. If sync runs in this
    // worker, it listens for the event.
    online: async () => void globalThis.dispatchEvent(new Event('online')),
    offline: async () => void globalThis.dispatchEvent(new Event('offline')),
    ping: () => Promise.resolve(),
    close: async () => tab?.close(),
  };
}

type ReadCalls = Pick<
  WorkerApi,
  | 'query'
  | 'openStream'
  | 'nextChunk'
  | 'closeStream'
  | 'rejected'
  | 'waiting'
  | 'rowSyncState'
  | 'backup'
  | 'watch'
  | 'unwatch'
  | 'liveQueryRuns'
>;

function readsOf(opened: () => OpenTab): ReadCalls {
  return {
    async query(statement) {
      const rows = await opened().membership.reads.query(statement);
      return transfer(rows, rowsTransferables(rows));
    },
    openStream: async (streamId, statement) => opened().streams.open(streamId, statement),
    async nextChunk(streamId) {
      const rows = await opened().streams.next(streamId);
      return rows === null ? null : transfer(rows, rowsTransferables(rows));
    },
    closeStream: async (streamId) => opened().streams.close(streamId),
    rejected: async () => opened().membership.reads.listRejected(),
    waiting: async (limit) => opened().membership.reads.listWaiting(limit),
    async rowSyncState(table, key) {
      const { membership, reports } = opened();
      return withSent(await membership.reads.rowSyncState(table, key), reports.status.sentUpTo ?? 0);
    },
    backup: async () => opened().membership.reads.backup(),
    watch: async (queryId, statement) => opened().live.watch(queryId, statement),
    unwatch: async (queryId) => opened().live.unwatch(queryId),
    liveQueryRuns: async () => opened().live.runs(),
  };
}

type WriteCalls = Pick<WorkerApi, 'write' | 'transact' | 'commit' | 'writeStates'>;

function writesOf(opened: () => OpenTab): WriteCalls {
  return {
    async write(statements, action, requestId) {
      const outcomes = await opened().membership.write(statements, action, requestId);
      return transfer({ outcomes, update: opened().reports.unseen() }, outcomes.flatMap(outcomeTransferables));
    },
    async transact(transactionId, ask) {
      const outcome = await opened().membership.transact(transactionId, ask);
      return outcome === null ? null : transfer(outcome, outcomeTransferables(outcome));
    },
    async commit(transactionId) {
      await opened().membership.commit(transactionId);
      return opened().reports.unseen();
    },
    async writeStates(requestIds) {
      const states = await opened().membership.reads.writeStates(requestIds);
      return { states, update: opened().reports.unseen() };
    },
  };
}

function outcomeTransferables({ rows }: StatementOutcome): ArrayBuffer[] {
  return rows === undefined ? [] : rowsTransferables(rows);
}
