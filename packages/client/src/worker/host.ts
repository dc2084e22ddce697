import { decodeSchema, RockpoolError, toRockpoolError } from '@rockpool/shared';
import { transfer } from 'comlink';
import type { LeaderStatus } from './leader/channel-message.ts';
import { systemClock } from './leader/clock.ts';
import { Membership } from './leader/membership.ts';
import { rowsTransferables } from '../rpc/rows-transfer.ts';
import type { StatementOutcome } from '../rpc/sql-statement.ts';
import type { SnapshotProgress } from '../rpc/snapshot-progress.ts';
import { INITIAL_STATUS, type StatusUpdate, type SyncStatus } from '../rpc/sync-status.ts';
import type { TabApi, WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';
import { newId } from '../new-id.ts';
import { reportUncaught } from '../rpc/error-transfer.ts';
import type { BroadcastPort } from './leader/tab-channel.ts';
import type { OpenDatabase } from './database/open-database.ts';
import { downloadContent } from './first-sync/download-snapshot.ts';
import { firstSync } from './first-sync/first-sync.ts';
import { snapshotSource } from './first-sync/snapshot-source.ts';
import { startLeaderWork } from './leader-work.ts';
import { createLiveRunner, type LiveRunner } from './live/live-runner.ts';
import { createWorkerPresence, type WorkerPresence } from './presence/worker-presence.ts';
import { databasesIn } from './storage/databases.ts';
import { createLocalOpener, loadCode } from './storage/open-local.ts';
import { createStreams, type Streams } from './streams.ts';
import { startSync } from './sync/start-sync.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

/**
 * Each write changes the status several times, and its answer carries the changes that its author must not miss. The
 * page gets the rest once per frame.
 */
const STATUS_EVERY_MS = 16;

/** Assembles the parts of a tab's worker: storage and database, leader or follower, live queries, sync. */
export function createHost(environment: WorkerEnvironment): WorkerApi {
  let membership: Membership<OpenDatabase> | null = null;
  let live: LiveRunner | null = null;
  let streams: Streams | null = null;
  let presence: WorkerPresence | null = null;
  let update: StatusUpdate | null = null;
  /** The number of the last update that an answer carried. */
  let answered = -1;

  function opened(): {
    readonly membership: Membership<OpenDatabase>;
    readonly live: LiveRunner;
    readonly streams: Streams;
    readonly presence: WorkerPresence;
    readonly update: StatusUpdate;
  } {
    if (membership === null || live === null || streams === null || presence === null || update === null)
      throw new RockpoolError('internal', { called: 'before open' });
    return { membership, live, streams, presence, update };
  }

  /**
   * For an answer; null if an earlier answer carried it. Events take another path and may arrive later than an answer.
   */
  function unseenUpdate(): StatusUpdate | null {
    const { update: newest } = opened();
    if (newest.number === answered) return null;
    answered = newest.number;
    return newest;
  }

  return {
    ...databasesIn(environment),
    async open(options, tab) {
      if (membership !== null) throw new RockpoolError('internal', { called: 'open twice' });
      environment.requireTabSupport();
      // The browser's own process looks for the medium while SQLite, which takes longest, is loaded here.
      const choosing = environment.chooseMedium(options.persistence, options.name);
      const schema = decodeSchema(options.schema);
      const runtime = loadCode({ schema, hasMigrations: options.migrations !== null }, environment.loadSqlite);
      const { persistence, medium } = await choosing;
      const send = (event: WorkerEvent): void => void sendToTab(tab, event);
      const problem = (error: RockpoolError): void => send({ kind: 'problem', error: error.toData() });
      const initialStatus: LeaderStatus = { ...INITIAL_STATUS, state: 'offline', persistence };
      let status: SyncStatus = { ...initialStatus, role: 'none' };
      let told: StatusUpdate = { number: 0, status };
      update = told;
      let isOpen = false;
      let isTelling = false;
      // False: the server's snapshot could not be had in this session.
      let takesFiles = true;
      const setStatus = (next: SyncStatus): void => {
        status = next;
        told = { number: told.number + 1, status };
        update = told;
        if (!isOpen || isTelling) return;
        isTelling = true;
        systemClock.after(STATUS_EVERY_MS, () => {
          isTelling = false;
          if (told.number > answered) send({ kind: 'status', update: told });
        });
      };

      const { sync, name } = options;
      const tellFirstSync = (progress: SnapshotProgress): void => send({ kind: 'first-sync', ...progress });
      const openLocal = createLocalOpener({
        ...options,
        databaseId: sync?.databaseId ?? null,
        principal: sync?.principal ?? null,
        medium,
        schema,
        runtime,
        ...(sync === null ? {} : { onQuarantined: problem }),
        beforeWriter: async () => {
          if (sync === null || sync.firstSyncWithinMs === null || isOpen) return;
          const { url, databaseId, firstSyncWithinMs } = sync;
          let latest: SnapshotProgress = { receivedBytes: 0, totalBytes: 0 };
          const onProgress = (progress: SnapshotProgress): void => {
            latest = progress;
            tellFirstSync(progress);
            membership?.tellFirstSync(progress);
          };
          // Tabs that open meanwhile wait for as long as they hear something.
          const onWait = (): void => membership?.tellFirstSync(latest);
          await firstSync({
            name,
            medium,
            schema,
            runtime,
            url,
            databaseId,
            token: async () => tab.token(),
            onProgress,
            onWait,
            answerWithinMs: firstSyncWithinMs,
            randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
          }).catch((thrown: unknown) => {
            const error = toRockpoolError(thrown);
            takesFiles = mayStillBeTaken(error);
            // The rows come as deliveries. Sync itself soon tells of a network or a token that is missing, and opening
            // of what stands in its way.
            if (!takesFiles) problem(error);
          });
        },
      });
      const scope = environment.scopeOf(name, persistence);
      const openPort = (channelName: string): BroadcastPort => environment.openPort(channelName);
      const shown = createWorkerPresence({
        scope,
        openPort,
        locks: environment.locks,
        clock: systemClock,
        onUpdate: (seen) => send({ kind: 'presence', update: seen }),
        onProblem: problem,
      });
      presence = shown;
      const mine: Membership<OpenDatabase> = new Membership<OpenDatabase>({
        scope,
        schema: options.schema,
        migrationCount: options.migrations?.length ?? 0,
        tabOptions: {
          sync: sync === null ? null : { url: sync.url, databaseId: sync.databaseId, principal: sync.principal },
          durability: options.durability,
        },
        initialStatus,
        locks: environment.locks,
        openPort,
        clock: systemClock,
        newId,
        sharesFiles: medium.allowsReaders,
        openDatabase: openLocal,
        // Sync starts here and lives as long as this tab leads.
        startWork: (tools) => {
          if (sync === null) return startLeaderWork(tools, null);
          const token = async (): Promise<string> => tab.token();
          const { schema: stored, connection } = tools.database;
          const snapshots = snapshotSource({
            name,
            medium,
            schema: stored,
            runtime: connection.runtime,
            download: downloadContent({ url: sync.url, databaseId: sync.databaseId, schemaHash: stored.hash, token }),
            databaseIdentity: () => tools.database.meta.databaseIdentity,
          });
          return startLeaderWork(tools, (given) =>
            startSync({
              target: sync,
              token,
              tools: given,
              persistence,
              presence: shown,
              ...(takesFiles ? { snapshots } : {}),
            }),
          );
        },
        onTouched: (touched) => live?.touch(touched),
        onFirstSync: tellFirstSync,
        onStatus: (leaderStatus, role) => {
          const { snapshot } = leaderStatus;
          if (snapshot !== null && snapshot.receivedBytes !== status.snapshot?.receivedBytes) tellFirstSync(snapshot);
          // Nothing is sent or loaded until a person does something about it, so that the app hears of it in every tab.
          const { reason } = leaderStatus;
          if (reason?.code === 'database-mismatch' && status.reason?.code !== reason.code)
            problem(RockpoolError.fromData(reason));
          setStatus({ ...leaderStatus, role });
        },
        onProblem: problem,
        onEnded: (error) => {
          if (error.code === 'client-closed' || !isOpen) return; // The caller is told by its own call.
          setStatus({
            ...status,
            state: error.code === 'tab-outdated' ? 'outdated' : 'blocked',
            role: 'none',
            reason: error.toData(),
            waitingFor: null,
            stuck: null,
            snapshot: null,
            sentUpTo: null,
          });
          problem(error);
        },
      });
      membership = mine;
      live = createLiveRunner({
        reads: mine.reads,
        clock: systemClock,
        send: (event, transferables) => send(transfer(event, transferables)),
        onProblem: problem,
      });
      const openReader = medium.allowsReaders ? () => openLocal('reader', () => undefined) : null;
      streams = createStreams({ openReader, reads: mine.reads, nowMs: () => performance.now() });
      await mine.open();
      isOpen = true;
      return told;
    },

    async query(statement) {
      const rows = await opened().membership.reads.query(statement);
      return transfer(rows, rowsTransferables(rows));
    },
    openStream: async (streamId, statement) => opened().streams.open(streamId, statement),
    nextChunk: async (streamId) => {
      const rows = await opened().streams.next(streamId);
      return rows === null ? null : transfer(rows, rowsTransferables(rows));
    },
    closeStream: async (streamId) => opened().streams.close(streamId),
    write: async (statements, action, requestId) => {
      const outcomes = await opened().membership.write(statements, action, requestId);
      return transfer({ outcomes, update: unseenUpdate() }, outcomes.flatMap(outcomeTransferables));
    },
    transact: async (transactionId, ask) => {
      const outcome = await opened().membership.transact(transactionId, ask);
      return outcome === null ? null : transfer(outcome, outcomeTransferables(outcome));
    },
    commit: async (transactionId) => {
      await opened().membership.commit(transactionId);
      return unseenUpdate();
    },
    rejected: async () => opened().membership.reads.listRejected(),
    rowSyncState: async (table, key) => opened().membership.reads.rowSyncState(table, key),
    backup: async () => opened().membership.reads.backup(),
    writeStates: async (requestIds) => {
      const states = await opened().membership.reads.writeStates(requestIds);
      return { states, update: unseenUpdate() };
    },
    syncNow: async () => opened().membership.syncNow(),
    showPresence: async (tabId, states) => opened().presence.show(tabId, states),
    watch: async (queryId, statement) => opened().live.watch(queryId, statement),
    unwatch: async (queryId) => opened().live.unwatch(queryId),
    liveQueryRuns: async () => opened().live.runs(),
    suspend: async () => {
      opened().presence.suspend();
      await opened().streams.closeAll();
      await opened().membership.suspend();
    },
    resume: async () => {
      opened().presence.resume();
      await opened().membership.resume();
    },
    // As if this worker had been told itself, which it is in Firefox: sync listens there, if it runs here.
    online: async () => void globalThis.dispatchEvent(new Event('online')),
    ping: () => Promise.resolve(),
    close: async () => {
      presence?.close();
      try {
        await streams?.closeAll();
      } finally {
        await membership?.close();
      }
    },
  };
}

/**
 * Whether a failed first sync can be completed in the background: there was no network or token yet, or the server was
 * still building the file.
 */
function mayStillBeTaken({ code, fields, recovery }: RockpoolError): boolean {
  if (recovery === 'reauthenticate' || fields['stage'] === 'token') return true;
  return code === 'network-unreachable' || (code === 'snapshot-unavailable' && fields['stage'] === 'snapshot-build');
}

function outcomeTransferables({ rows }: StatementOutcome): ArrayBuffer[] {
  return rows === undefined ? [] : rowsTransferables(rows);
}

async function sendToTab(tab: TabApi, event: WorkerEvent): Promise<void> {
  try {
    await tab.onEvent(event);
  } catch (thrown) {
    reportUncaught(toRockpoolError(thrown));
  }
}
