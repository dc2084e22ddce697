import { randomBytes } from 'node:crypto';
import { decodeSchema, encodeSchema, type RockpoolError, type Schema, type SnapshotPosition } from '#shared/index.ts';
import { memoryMedium, openStorage, type Medium, type Storage } from '#vfs-opfs/index.ts';
import type { TouchedTables } from '#client/rpc/query-dependencies.ts';
import type { SnapshotProgress } from '#client/rpc/snapshot-progress.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { SyncState, WaitStage } from '#client/rpc/sync-status.ts';
import type { DownloadTimeouts } from '#client/worker/first-sync/download-snapshot.ts';
import { downloadContent } from '#client/worker/first-sync/download-content.ts';
import { snapshotSource } from '#client/worker/first-sync/snapshot-source.ts';
import { openDatabase, type OpenDatabase } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import type { SnapshotSource } from '#client/worker/sync/snapshot-taking.ts';
import { createSyncEngine, type EngineReport, type SyncEngine } from '#client/worker/sync/sync-engine.ts';
import { connectOver } from '#client/worker/sync/server-connection.ts';
import { webSocketTransport } from '#client/worker/sync/web-socket-transport.ts';
import { testRuntime } from '#client/testing/worker/test-database.ts';
import { TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { DATABASE, type TestServer } from '#sync-server/testing/test-server.ts';
import { until } from '#kit/until.ts';

/** A `fetch` that waits for a snapshot instead of getting the answer that it is being built. */
export const fetchBuilt: typeof fetch = (input, init) => fetch((input as string).replace(/&waitMs=\d+/, ''), init);

/** As a worker gets it from its page. */
export const SCHEMA: Schema = decodeSchema(encodeSchema(TEST_SCHEMA));

/** On a busy machine a server may take longer to answer than a device would wait. */
const PATIENT: DownloadTimeouts = { tokenMs: 60_000, firstByteMs: 60_000, nextBytesMs: 60_000, builtMs: 60_000 };

export interface DeviceOptions {
  readonly server: () => TestServer;
  /** Default: a new, empty one. */
  readonly medium?: Medium;
  /** Default: a valid one. */
  readonly token?: () => Promise<string>;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** The position claimed for each downloaded file. Default: its own. */
  readonly held?: () => SnapshotPosition;
  /** For snapshots. Default: long, so that a busy machine changes nothing. */
  readonly timeouts?: DownloadTimeouts;
  /** Default: true. */
  readonly takesFiles?: boolean;
}

/** The real storage, database and sync of one device, in this process. Starts to sync on request. */
export class Device {
  readonly medium: Medium;
  readonly database: OpenDatabase;
  readonly problems: RockpoolError[] = [];
  readonly progress: SnapshotProgress[] = [];
  /** The tables of which deliveries notified live queries. */
  readonly told: TouchedTables[] = [];
  /** The full resyncs that arrived, by the watermark they continue from. */
  readonly wholeFrom: number[] = [];
  report: EngineReport | null = null;
  /** The reported states and wait stages, without repetitions. */
  readonly states: SyncState[] = [];
  readonly stages: WaitStage[] = [];
  /** Drops messages from the server. */
  isDeaf = false;
  private readonly storage: Storage;
  private readonly engine: SyncEngine;
  private readonly snapshots: SnapshotSource;
  private content: ReturnType<typeof downloadContent> | null = null;
  private requests = 0;

  static async open(options: DeviceOptions): Promise<Device> {
    const medium = options.medium ?? memoryMedium();
    return new Device(options, medium, await openStorage({ name: 'budget', medium, role: 'writer' }));
  }

  private constructor(
    { server, token = () => server().token(), fetch: get, held, timeouts, takesFiles = true }: DeviceOptions,
    medium: Medium,
    storage: Storage,
  ) {
    this.medium = medium;
    this.storage = storage;
    storage.register(testRuntime.module);
    this.database = openDatabase({
      runtime: testRuntime,
      path: storage.path,
      vfsName: storage.vfsName,
      role: 'writer',
      schema: SCHEMA,
      migrations: null,
      randomBytes: (count) => new Uint8Array(randomBytes(count)),
      nowMs: Date.now,
      flush: () => storage.flush(),
    });
    const url = (): string => `ws://${server().host}`;
    this.snapshots = snapshotSource({
      name: 'budget',
      medium,
      schema: SCHEMA,
      runtime: testRuntime,
      download: (onProgress, signal) => this.download({ url, token, get, timeouts })(onProgress, signal),
      databaseIdentity: () => this.database.meta.databaseIdentity,
    });
    this.engine = createSyncEngine({
      url: '',
      databaseId: DATABASE,
      token,
      database: toSyncDatabase({
        database: this.database,
        elapsedMs: () => performance.now(),
        onApplied: (touched) => void this.told.push(touched),
      }),
      connect: (_, events) =>
        connectOver(webSocketTransport)(`${url()}/sync`, {
          ...events,
          onMessage: (message) => {
            if (this.isDeaf) return;
            if (message.type === 'delivery' && message.whole) this.wholeFrom.push(message.from);
            events.onMessage(message);
          },
        }),
      ...(takesFiles
        ? {
            snapshots:
              held === undefined
                ? this.snapshots
                : {
                    ...this.snapshots,
                    take: async (...given) => ({
                      path: '',
                      ...(await this.snapshots.take(...given)),
                      position: held(),
                    }),
                  },
          }
        : {}),
      onReport: (report) => {
        this.report = report;
        noted(this.states, report.state);
        if (report.waitingFor !== null) noted(this.stages, report.waitingFor.stage);
        if (report.snapshot !== null) this.progress.push(report.snapshot);
      },
      onStuck: () => undefined,
      onProblem: (error) => void this.problems.push(error),
      random: () => 0,
    });
  }

  /** One for all attempts, as in a worker. A restarted server has another port. */
  private download({
    url,
    token,
    get,
    timeouts = PATIENT,
  }: {
    readonly url: () => string;
    readonly token: () => Promise<string>;
    readonly get: typeof fetch | undefined;
    readonly timeouts: DownloadTimeouts | undefined;
  }): ReturnType<typeof downloadContent> {
    this.content ??= downloadContent({
      url: url(),
      databaseId: DATABASE,
      schemaHash: SCHEMA.hash,
      token,
      timeouts,
      fetch: (input, init) =>
        (get ?? fetch)((input as string).replace(/^http:..[^/]+/, url().replace('ws', 'http')), init),
    });
    return this.content;
  }

  write(sql: string, ...params: readonly SqlParam[]): void {
    this.requests++;
    this.database.write({ id: `r${this.requests}-${Date.now()}`, statements: [{ sql, params }] });
    this.engine.committed();
  }

  rows(sql: string): unknown[] {
    return this.database.connection.rows(sql);
  }

  start(): void {
    this.engine.start();
  }

  tryNow(): void {
    this.engine.tryNow();
  }

  /** Waits until device and server are in sync. The test's deadline is the limit. */
  async inSync(): Promise<void> {
    await this.until(() => this.report?.state === 'up-to-date');
  }

  until(isSo: () => boolean): Promise<void> {
    return until(isSo);
  }

  /** Ends the connection; `start` begins a new one. */
  pause(): void {
    this.engine.stop();
  }

  /** Stops everything, as if its worker and storage had died. */
  abandon(): void {
    this.engine.stop();
  }

  async close(): Promise<void> {
    this.engine.stop();
    await this.snapshots.discard();
    this.database.close();
    await this.storage.close();
  }
}

function noted<T>(list: T[], now: T): void {
  if (list.at(-1) !== now) list.push(now);
}
