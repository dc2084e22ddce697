import { encodeSchema, RockpoolError, toRockpoolError } from '@rockpool/shared';
import { proxy, type Remote } from 'comlink';
import type { ClientOptions, SyncOptions } from './interface/client-options.ts';
import { loadPart } from './load-part.ts';
import { newId } from './new-id.ts';
import { reportUncaught } from './rpc/error-transfer.ts';
import { INITIAL_STATUS } from './rpc/sync-status.ts';
import type { SqlStatement, StatementOutcome } from './rpc/sql-statement.ts';
import type { WriteAction } from './rpc/write-action.ts';
import type { OpenOptions, TabApi, WorkerApi, WorkerEvent } from './rpc/worker-api.ts';
import { callListener } from './tab/listeners.ts';
import { PageQueries, type LiveQueries } from './tab/live-queries.ts';
import { followPageLifecycle, type PageEvents } from './tab/page-lifecycle.ts';
import { readMigrations } from './tab/read-migrations.ts';
import { createStatusStore, type StatusStore } from './tab/status-store.ts';
import { PagePresence, type TabPresence } from './tab/tab-presence.ts';
import { ReplaceableWorker, type TabWorker } from './tab/tab-worker.ts';
import type { WorkerConnection } from './tab/worker-connection.ts';

/**
 * A stuck worker must not prevent a page from closing its client. The worker waits up to ten seconds for the writes
 * under way (Membership.close), and then up to 3 s for the hand-over to another tab.
 */
const CLOSE_DEADLINE_MS = 13_000;

/** A reachable server responds well within this time, unless it has to build the snapshot first. */
const FIRST_SYNC_WITHIN_MS = 3_000;

/** The environment of a client: a page, or a replacement for one. */
export interface ClientEnvironment {
  /** Starts the worker that opens the database. `onProblem`: see connectWorker. */
  connect(onProblem: (error: RockpoolError) => void): WorkerConnection;
  /** The page whose lifecycle the client follows; null outside of a page, as in Node. */
  page(): PageEvents | null;
  deleteDatabase(name: string): Promise<void>;
}

/** One database opened by a page: the worker, and the stores that the worker's events fill. */
export class ClientSession {
  // Declarations add nothing to the page's code; the constructor sets these fields.
  declare readonly live: LiveQueries;
  declare readonly presence: TabPresence;
  declare readonly status: StatusStore;
  /**
   * Passes an error to the app. The end of the client is none, because the app has asked for it; a later change of a
   * document is one.
   */
  declare readonly onProblem: (error: RockpoolError) => void;
  /** Called with the event before the worker is suspended. Open documents set it. */
  declare beforeAway?: (event: Event) => void;
  /** Writes what open documents have not written yet. They set it. */
  declare saveDocuments?: () => Promise<unknown>;
  /** How many calls of `leave` check that all is sent. Meanwhile, `accept` rejects. */
  leaving = 0;
  /** Resolves when the accepted writes have settled. */
  settled: Promise<unknown> = Promise.resolve();
  declare private readonly options: ClientOptions;
  declare private readonly environment: ClientEnvironment;
  declare private readonly openOptions: OpenOptions;
  declare private readonly worker: TabWorker;
  /** Receives the events of the current worker; null once there is none. */
  private tab: TabApi | null = null;
  private readonly onClose: (() => void)[] = [];
  declare private closing?: Promise<void>;
  declare private tokenSource?: () => Promise<string>;

  constructor(options: ClientOptions, environment: ClientEnvironment) {
    this.options = options;
    this.environment = environment;
    this.openOptions = openOptionsOf(options);
    const onError = options.onError ?? reportUncaught;
    this.onProblem = (error) => {
      if (error.code !== 'client-closed' || error.fields['closed']) callListener(onError, error);
    };
    this.worker = new ReplaceableWorker({
      connect: () => environment.connect(this.onProblem),
      reopen: (worker) => this.reopen(worker),
      onDown: (error, isFinal) => this.showDown(error, isFinal),
    });
    const { worker } = this;
    this.live = new PageQueries(worker);
    this.presence = new PagePresence({
      tabId: newId(),
      show: (tabId, states) => worker.call((api) => api.showPresence(tabId, states)),
      onProblem: this.onProblem,
    });
    // The app receives the client after the worker's first status.
    this.status = createStatusStore({ ...INITIAL_STATUS, role: 'none' });
  }

  /** Rejects like `createClient`. */
  async open(): Promise<void> {
    const open = (): Promise<void> => this.worker.call((worker) => this.openIn(worker));
    this.followPage();
    try {
      await open().catch((thrown: unknown) => {
        if (toRockpoolError(thrown).fields['loadsNow'] === undefined) throw thrown;
        this.worker.startAgain();
        return open();
      });
      if (this.openOptions.persistence !== 'memory') this.worker.watch();
    } catch (error) {
      this.runOnClose();
      this.endWorker();
      throw error;
    }
  }

  async call<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
    if (this.closing) throw new RockpoolError('client-closed');
    return this.worker.call(run);
  }

  async write(
    statements: readonly SqlStatement[],
    action?: WriteAction,
    requestId: string = newId(),
  ): Promise<readonly StatementOutcome[]> {
    const { outcomes, update } = await this.accept(() =>
      this.call((worker) => worker.write(statements, action, requestId)),
    );
    this.status.hear(update);
    return outcomes;
  }

  /** Runs a write or a transaction. Rejects with `client-closed` while the app leaves the database. */
  async accept<T>(run: () => Promise<T>): Promise<T> {
    if (this.leaving > 0) throw new RockpoolError('client-closed');
    const { settled } = this;
    const running = run();
    this.settled = running.catch(() => undefined).then(() => settled);
    return running;
  }

  /** Runs `onEnd` as soon as the client begins to close, before live queries and presence end. */
  beforeClose(onEnd: () => void): void {
    this.onClose.push(onEnd);
  }

  close(): Promise<void> {
    // Open documents may still write.
    if (!this.closing) this.runOnClose();
    return (this.closing ??= this.end());
  }

  private runOnClose(): void {
    for (const onEnd of this.onClose) onEnd();
  }

  private async openIn(worker: Remote<WorkerApi>): Promise<void> {
    // Events of a worker that was replaced or ended may still arrive.
    const tab: TabApi = {
      onEvent: (event) => {
        if (this.tab === tab) this.onEvent(event);
      },
      token: () => this.askToken(),
    };
    this.tab = tab;
    this.status.hear(await worker.open(this.openOptions, proxy(tab)));
  }

  private async reopen(worker: Remote<WorkerApi>): Promise<void> {
    await this.openIn(worker);
    this.live.watchAgain();
    this.presence.showAgain();
  }

  /** See TabWorkerOptions.onDown. */
  private showDown(error: RockpoolError, isFinal: boolean): void {
    if (this.closing) return;
    this.status.set({
      ...this.status.current,
      state: !isFinal ? 'opening' : error.code === 'tab-outdated' ? 'outdated' : 'blocked',
      role: 'none',
      reason: error.toData(),
      waitingFor: null,
      stuck: null,
      snapshot: null,
      sentUpTo: null,
    });
    this.onProblem(error);
  }

  /** Loads the code when the worker first asks for a token, because nothing before the first query needs it. */
  private async askToken(): Promise<string> {
    if (!this.tokenSource) {
      const { createTokenSource } = await loadPart('token', () => import('./tab/token-source.ts')).catch(
        (cause: unknown) => {
          throw new RockpoolError('network-unreachable', { stage: 'token' }, { cause });
        },
      );
      this.tokenSource ??= createTokenSource(this.options.sync as SyncOptions, this);
    }
    return this.tokenSource();
  }

  private onEvent(event: WorkerEvent): void {
    switch (event.kind) {
      case 'status':
        return this.status.hear(event.update);
      case 'problem':
        return this.onWorkerProblem(RockpoolError.fromData(event.error));
      case 'first-sync': {
        const { receivedBytes, totalBytes } = event;
        const { sync } = this.options;
        return callListener((progress) => sync?.firstSync?.onProgress?.(progress), { receivedBytes, totalBytes });
      }
      case 'presence':
        return this.presence.hear(event.update);
      case 'live':
        return this.live.onEvent(event);
    }
  }

  private onWorkerProblem(error: RockpoolError): void {
    // A database in memory would be lost with its worker.
    if (error.code === 'worker-stuck' && this.openOptions.persistence !== 'memory') this.worker.restart(error);
    else this.onProblem(error);
  }

  private followPage(): void {
    const page = this.environment.page();
    if (page === null) return;
    const { worker, onProblem } = this;
    const tell = (run: (api: Remote<WorkerApi>) => Promise<void>) => (): void => void worker.call(run).catch(onProblem);
    const suspend = tell((api) => api.suspend());
    const stop = followPageLifecycle(
      page,
      (event) => {
        this.beforeAway?.(event);
        suspend();
      },
      tell((api) => api.resume()),
      tell((api) => api.online()),
      tell((api) => api.offline()),
      () => {
        // Runs in the tab that syncs. If that tab does not answer, the next write reports the failure.
        if (this.options.sync !== undefined) worker.call((api) => api.syncNow()).catch(() => undefined);
      },
    );
    this.beforeClose(stop);
  }

  private async end(): Promise<void> {
    await Promise.resolve(); // Listeners of live queries may call `close`.
    this.live.end(new RockpoolError('client-closed'));
    this.presence.end();
    let deadline: ReturnType<typeof setTimeout> | undefined;
    try {
      await Promise.race([
        this.worker
          .call((worker) => worker.close())
          .catch((thrown: unknown) => {
            // Without a role there is nothing to close, for example if a replacement could not open the database.
            if (this.status.current.role !== 'none') throw thrown;
          }),
        new Promise<void>((resolve) => (deadline = setTimeout(resolve, CLOSE_DEADLINE_MS))),
      ]);
    } finally {
      clearTimeout(deadline);
      this.endWorker();
    }
  }

  private endWorker(): void {
    this.tab = null;
    this.worker.end(new RockpoolError('client-closed'));
  }
}

function openOptionsOf(options: ClientOptions): OpenOptions {
  const { name, schema, migrations, sync, durability = 'relaxed', persistence = 'durable' } = options;
  return {
    name,
    schema: encodeSchema(schema),
    migrations: migrations === undefined ? null : readMigrations(migrations).migrations,
    sync:
      sync === undefined
        ? null
        : {
            url: sync.url,
            databaseId: sync.databaseId,
            principal: sync.principal ?? null,
            transport: sync.transport ?? 'auto',
            firstSyncWithinMs:
              sync.firstSync === undefined ? null : (sync.firstSync.answerWithinMs ?? FIRST_SYNC_WITHIN_MS),
          },
    durability,
    persistence,
  };
}
