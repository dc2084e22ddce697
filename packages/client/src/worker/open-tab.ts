import { decodeSchema, RockpoolError, toRockpoolError, type Schema } from '@rockpool/shared';
import { memoryMedium, stageFile, type Medium } from '@rockpool/vfs-opfs';
import { transfer } from 'comlink';
import { loadPart } from '../load-part.ts';
import { newId } from '../new-id.ts';
import { reportUncaught } from '../rpc/error-transfer.ts';
import type { Persistence } from '../rpc/persistence.ts';
import type { PastAnswer, PastAsk } from '../rpc/past-state.ts';
import type { SnapshotProgress } from '../rpc/snapshot-progress.ts';
import { INITIAL_STATUS, type TabRole } from '../rpc/sync-status.ts';
import type { Transport } from '../rpc/transport.ts';
import type { OpenOptions, SyncTarget, TabApi, WorkerEvent } from '../rpc/worker-api.ts';
import type { OpenDatabase } from './database/open-database.ts';
import { QueryRun } from './database/query-run.ts';
import { downloadContent } from './first-sync/download-content.ts';
import type { DownloadOptions } from './first-sync/download-snapshot.ts';
import { firstSync } from './first-sync/first-sync.ts';
import { snapshotSource } from './first-sync/snapshot-source.ts';
import type { LeaderStatus } from './leader/channel-message.ts';
import { systemClock } from './leader/clock.ts';
import type { LeaderTools, LeaderWork } from './leader/leadership.ts';
import { Membership } from './leader/membership.ts';
import { startLeaderWork } from './leader-work.ts';
import { createLiveRunner, type LiveRunner } from './live/live-runner.ts';
import type { PastStates } from './past/past-states.ts';
import { createWorkerPresence, type WorkerPresence } from './presence/worker-presence.ts';
import { Connection } from './sqlite/connection.ts';
import type { SqliteRuntime } from './sqlite/sqlite-runtime.ts';
import { byOpeningDeadline } from './opening-deadline.ts';
import { createStatusReports, type StatusReports } from './status-reports.ts';
import { createLocalOpener, loadCode } from './storage/open-local.ts';
import { createStreams, type Streams } from './streams.ts';
import { transportNamed } from './sync/choose-transport.ts';
import { startSync } from './sync/start-sync.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

/**
 * The age from which a worker is replaced after a read that failed for an unknown reason. If reads of the next worker
 * fail too, no more than one a minute is replaced, except that the page replaces a worker that cannot open the files at
 * its next check (TabWorker). `performance.now()` is the age of a worker.
 */
const REPLACED_AFTER_MS = 60_000;

/** The facts that the parts of a tab share. */
interface TabContext {
  readonly environment: WorkerEnvironment;
  readonly options: OpenOptions;
  readonly schema: Schema;
  readonly runtime: Promise<SqliteRuntime>;
  readonly medium: Medium;
  readonly persistence: Persistence;
  /** Names locks and channels. */
  readonly scope: string;
  readonly page: PageLink;
}

/** The events and requests that the worker sends to its page. */
interface PageLink {
  send(event: WorkerEvent): void;
  reportProblem(error: RockpoolError): void;
  token(): Promise<string>;
}

/** An open database in one tab, with the services of its worker. */
export class OpenTab {
  // The constructor sets these fields; a declaration adds nothing to the worker's code.
  declare readonly membership: Membership<OpenDatabase>;
  declare readonly live: LiveRunner;
  declare readonly streams: Streams;
  declare readonly presence: WorkerPresence;
  declare readonly reports: StatusReports;
  declare private readonly context: TabContext;
  private isOpen = false;
  /** False if the server's snapshot could not be downloaded in this session. */
  private takesFiles = true;
  private pastStates: PastStates | null = null;
  private readonly closed = new AbortController();

  constructor(context: TabContext) {
    const { environment, scope, page, persistence, medium } = context;
    this.context = context;
    const initialStatus: LeaderStatus = { ...INITIAL_STATUS, state: 'offline', persistence };
    this.reports = createStatusReports(
      { ...initialStatus, role: 'none' },
      (update) => page.send({ kind: 'status', update }),
      systemClock,
    );
    this.presence = createWorkerPresence({
      scope,
      openPort: (channelName) => environment.openPort(channelName),
      locks: environment.locks,
      clock: systemClock,
      onUpdate: (update) => page.send({ kind: 'presence', update }),
      onProblem: (error) => page.reportProblem(error),
    });
    const openLocal = this.createOpener();
    this.membership = this.createMembership(openLocal, initialStatus);
    this.live = createLiveRunner({
      reads: this.membership.reads,
      clock: systemClock,
      send: (event, transferables) => page.send(transfer(event, transferables)),
      onProblem: (error) => page.reportProblem(error),
    });
    const openReader = medium.allowsReaders
      ? (): ReturnType<typeof openLocal> => openLocal('reader', () => undefined)
      : null;
    this.streams = createStreams({ openReader, reads: this.membership.reads, nowMs: () => performance.now() });
  }

  async open(): Promise<void> {
    await this.membership.open();
    this.isOpen = true;
    this.reports.begin();
  }

  async suspend(): Promise<void> {
    this.presence.suspend();
    await this.membership.suspend(this.streams.closeAll());
  }

  async resume(): Promise<void> {
    this.presence.resume();
    await this.membership.resume();
  }

  async close(): Promise<void> {
    this.presence.close();
    this.closed.abort();
    try {
      await this.streams.closeAll();
    } finally {
      await this.membership.close();
    }
  }

  /** See WorkerApi.request. */
  async request(path: string): Promise<Uint8Array> {
    const { options, page } = this.context;
    const { sync } = options;
    if (sync === null) throw noServer();
    const { requestBytes } = await loadPart('history', () => import('./sync/request-bytes.ts'));
    return requestBytes(this.download(sync), path, await page.token(), this.closed.signal);
  }

  /** See WorkerApi.past. */
  async past(ask: PastAsk, onProgress: ((progress: SnapshotProgress) => void) | null): Promise<PastAnswer> {
    const { options, schema, runtime, page } = this.context;
    if (options.sync === null) throw noServer();
    const { PastStates } = await loadPart('history', () => import('./past/past-states.ts'));
    const sqlite = await runtime; // Not awaited below, where a second call could replace the states of the first one.
    this.pastStates ??= new PastStates(
      {
        server: this.download(options.sync),
        schema,
        runtime: sqlite,
        token: () => page.token(),
        closed: this.closed.signal,
      },
      { Connection, QueryRun, memoryMedium, stageFile },
    );
    return this.pastStates.answer(ask, onProgress);
  }

  private createOpener(): ReturnType<typeof createLocalOpener> {
    const { options, medium, schema, runtime, page } = this.context;
    const { sync } = options;
    return createLocalOpener({
      ...options,
      databaseId: sync?.databaseId ?? null,
      principal: sync?.principal ?? null,
      medium,
      schema,
      runtime,
      ...(sync === null ? {} : { onQuarantined: (error) => page.reportProblem(error) }),
      beforeWriter: () => this.takeFirstSync(),
      onStep: () => this.membership.tellOpening(),
      onLost: (reason) => {
        // The page replaces this worker, and the next one opens the files. A failure to open rejects the app's call.
        if (this.isOpen && (reason === 'storage-lost' || performance.now() >= REPLACED_AFTER_MS))
          page.reportProblem(new RockpoolError('worker-stuck', { reason }));
      },
    });
  }

  /** Fills an empty database from the server's snapshot, if the app asked to wait for it. */
  private async takeFirstSync(): Promise<void> {
    const { options, medium, schema, runtime, page } = this.context;
    const { sync, name } = options;
    if (sync === null || sync.firstSyncWithinMs === null || this.isOpen) return;
    let latest: SnapshotProgress = { receivedBytes: 0, totalBytes: 0 };
    await firstSync({
      name,
      medium,
      schema,
      migrations: options.migrations,
      runtime,
      ...this.download(sync),
      token: () => page.token(),
      onProgress: (progress) => {
        latest = progress;
        this.tellFirstSync(progress);
      },
      // Tabs that open meanwhile wait as long as they receive messages.
      onWait: () => this.membership.tellFirstSync(latest),
      answerWithinMs: sync.firstSyncWithinMs,
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    }).catch((thrown: unknown) => {
      const error = toRockpoolError(thrown);
      this.takesFiles = mayStillBeTaken(error);
      // The rows arrive as deliveries instead. Sync itself soon reports a missing network or token, and opening reports
      // what prevents it.
      if (!this.takesFiles) page.reportProblem(error);
    });
  }

  /** In every tab. */
  private tellFirstSync(progress: SnapshotProgress): void {
    this.showFirstSync(progress);
    this.membership.tellFirstSync(progress);
  }

  private showFirstSync(progress: SnapshotProgress): void {
    this.context.page.send({ kind: 'first-sync', ...progress });
  }

  private createMembership(
    openDatabase: ReturnType<typeof createLocalOpener>,
    initialStatus: LeaderStatus,
  ): Membership<OpenDatabase> {
    const { environment, options, medium, scope, page } = this.context;
    const { sync } = options;
    return new Membership<OpenDatabase>({
      scope,
      schema: options.schema,
      migrationCount: options.migrations?.length ?? 0,
      tabOptions: {
        sync: sync === null ? null : { url: sync.url, databaseId: sync.databaseId, principal: sync.principal },
        durability: options.durability,
      },
      initialStatus,
      locks: environment.locks,
      openPort: (channelName) => environment.openPort(channelName),
      clock: systemClock,
      newId,
      sharesFiles: medium.allowsReaders,
      openDatabase,
      startWork: (tools) => this.startWork(tools),
      // Called only after opening, when the live runner exists.
      onTouched: (touched) => this.live.touch(touched),
      onFirstSync: (progress) => this.showFirstSync(progress),
      onStatus: (status, role) => this.showStatus(status, role),
      onProblem: (error) => page.reportProblem(error),
      onEnded: (error) => this.showEnd(error),
    });
  }

  /** Starts sync, which runs as long as this tab leads. */
  private startWork(tools: LeaderTools<OpenDatabase>): LeaderWork {
    const { options, medium, persistence, page } = this.context;
    const { sync, name } = options;
    if (sync === null) return startLeaderWork(tools, null);
    const token = (): Promise<string> => page.token();
    const { schema, connection } = tools.database;
    const snapshots = snapshotSource({
      name,
      medium,
      schema,
      runtime: connection.runtime,
      download: downloadContent({ ...this.download(sync), schemaHash: schema.hash, token }),
      databaseIdentity: () => tools.database.meta.databaseIdentity,
    });
    return startLeaderWork(tools, (given) =>
      startSync({
        target: sync,
        transport: this.transport(sync),
        token,
        tools: given,
        persistence,
        presence: this.presence,
        ...(this.takesFiles ? { snapshots } : {}),
      }),
    );
  }

  private transport({ transport }: SyncTarget): Transport {
    return this.context.environment.transport ?? transportNamed(transport);
  }

  /** How to download files from the server. */
  private download(target: SyncTarget): Pick<DownloadOptions, 'url' | 'databaseId' | 'fetch'> {
    const { url, databaseId } = target;
    const { request } = this.transport(target);
    if (request === undefined) return { url, databaseId };
    const base = url.replace(/^ws/, 'http');
    return {
      url,
      databaseId,
      fetch: (address: string, init: RequestInit) => request(address.slice(base.length), init),
    };
  }

  private showStatus(leaderStatus: LeaderStatus, role: TabRole): void {
    const { snapshot, reason } = leaderStatus;
    const { status } = this.reports;
    // Other tabs receive only some of the statuses, and would miss the end of the download.
    if (role === 'leader' && snapshot !== null && snapshot.receivedBytes !== status.snapshot?.receivedBytes)
      this.tellFirstSync(snapshot);
    // Nothing is sent or loaded until a user acts, so every tab reports the error to the app.
    if (reason?.code === 'database-mismatch' && status.reason?.code !== reason.code)
      this.context.page.reportProblem(RockpoolError.fromData(reason));
    this.reports.set({ ...leaderStatus, role });
  }

  private showEnd(error: RockpoolError): void {
    if (error.code === 'client-closed' || !this.isOpen) return; // The app's own call rejects with the error.
    this.reports.set({
      ...this.reports.status,
      state: error.code === 'tab-outdated' ? 'outdated' : 'blocked',
      role: 'none',
      reason: error.toData(),
      waitingFor: null,
      stuck: null,
      snapshot: null,
      sentUpTo: null,
    });
    this.context.page.reportProblem(error);
  }
}

function noServer(): RockpoolError {
  return new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
}

/** Assembles a tab. Call `open` on the result. Throws like `chooseMedium`. */
export async function assembleTab(environment: WorkerEnvironment, options: OpenOptions, tab: TabApi): Promise<OpenTab> {
  environment.requireTabSupport();
  // Looking for the medium runs in the browser process while this worker loads SQLite, the longest step of opening.
  const choosing = byOpeningDeadline('storage', environment.chooseMedium(options.persistence, options.name));
  const schema = decodeSchema(options.schema);
  const runtime = byOpeningDeadline(
    'code',
    loadCode({ schema, hasMigrations: options.migrations !== null }, environment.loadSqlite),
  );
  const { persistence, medium } = await choosing;
  const send = (event: WorkerEvent): void => void sendToTab(tab, event);
  return new OpenTab({
    environment,
    options,
    schema,
    runtime,
    medium,
    persistence,
    scope: environment.scopeOf(options.name, persistence),
    page: {
      send,
      reportProblem: (error) => send({ kind: 'problem', error: error.toData() }),
      token: async () => tab.token(),
    },
  });
}

/** How the server answers a request of a wrong schema, without a valid token, and without the right to read. */
const REFUSALS = [400, 401, 403];

/**
 * Whether a failed first sync can be completed in the background: there was no network, token or right to read yet, the
 * server did not have the app's schema yet, or it was still building the file.
 */
function mayStillBeTaken({ code, fields, recovery }: RockpoolError): boolean {
  const { stage, status } = fields;
  if (recovery === 'reauthenticate' || stage === 'token' || REFUSALS.includes(status as number)) return true;
  return code === 'network-unreachable' || (code === 'snapshot-unavailable' && stage === 'snapshot-build');
}

async function sendToTab(tab: TabApi, event: WorkerEvent): Promise<void> {
  try {
    await tab.onEvent(event);
  } catch (thrown) {
    reportUncaught(toRockpoolError(thrown));
  }
}
