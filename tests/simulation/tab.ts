import { encodeSchema, toRockpoolError, type RockpoolError } from '#shared/index.ts';
import type { LeaderStatus } from '#client/worker/leader/channel-message.ts';
import { systemClock } from '#client/worker/leader/clock.ts';
import { Membership } from '#client/worker/leader/membership.ts';
import type { OpenedDatabase } from '#client/worker/leader/opened-database.ts';
import { INITIAL_STATUS, type TabRole } from '#client/rpc/sync-status.ts';
import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import { snapshotSource } from '#client/worker/first-sync/snapshot-source.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { SqliteRuntime } from '#client/worker/sqlite/sqlite-runtime.ts';
import { createLocalOpener, type OpenLocal } from '#client/worker/storage/open-local.ts';
import { startSync } from '#client/worker/sync/start-sync.ts';
import { newId } from '#client/new-id.ts';
import type { Presence } from '#client/interface/presence.ts';
import { PagePresence } from '#client/tab/tab-presence.ts';
import { createWorkerPresence, type WorkerPresence } from '#client/worker/presence/worker-presence.ts';
import type { Device } from './device.ts';
import type { WorkerMedium } from './device-storage.ts';
import { APP_SCHEMAS, APP_SQL, type AppVersion } from './household-schema.ts';
import { DATABASE_ID } from './server-disk.ts';
import { CONNECTED } from './silence-check.ts';
import type { Owner } from './virtual-time.ts';

export interface Runtimes {
  /** Separate, so that one tab may read in the middle of another tab's write. */
  readonly writers: SqliteRuntime;
  readonly readers: SqliteRuntime;
}

/** Small, so that one history seals and copies many segments. */
const TUNING = {
  poolSizeBytes: 16 * 65_536,
  checkpointAfterBytes: 384 * 1024,
  segmentGrowthBytes: 128 * 1024,
  recordSizeBytes: 64 * 1024,
};

const STATUS: LeaderStatus = { ...INITIAL_STATUS, state: 'offline' };

const SCHEMA_JSON: Readonly<Record<AppVersion, string>> = {
  older: encodeSchema(APP_SCHEMAS.older),
  newer: encodeSchema(APP_SCHEMAS.newer),
};

/** The presence of one page: the parts of the worker and of the page. */
interface ShownPresence {
  readonly worker: WorkerPresence;
  readonly page: Presence;
}

/**
 * One tab of a device: the real membership, leadership, storage, database and sync, in a worker that can die at any
 * storage call.
 */
export class Tab {
  readonly owner: Owner;
  readonly device: Device;
  /** The version of the app that the tab was opened with. */
  readonly app: AppVersion;
  readonly medium: WorkerMedium;
  readonly membership: Membership<OpenDatabase>;
  opened: { readonly database: OpenDatabase; readonly role: 'writer' | 'reader' } | null = null;
  role: TabRole | null = null;
  status: LeaderStatus = STATUS;
  isSuspended = false;
  /** Whether the tab was notified of a commit and has not been checked since. */
  isDirty = false;
  /** What the tab's page has shown since the last commit notice; null before the first. */
  shown: string | null = null;
  /** How often the tab's page has read what it shows. */
  looks = 0;
  /** When the tab's page last showed the current state. */
  comparedMs = 0;
  /** When the tab last reported that its device is connected again. */
  connectedMs = 0;
  /** Null in histories without presence. */
  readonly presence: ShownPresence | null;
  /** What the page shows about itself; null if it shows nothing. */
  presenceState: number | null = null;
  /** Whether the page has taken part in presence, so that it sees the others. */
  hasShown = false;
  /** The shipped opener: one for each role, each on its own SQLite runtime. */
  private readonly openers: Readonly<Record<'writer' | 'reader', OpenLocal>>;

  constructor(device: Device, name: string, runtimes: Runtimes) {
    this.device = device;
    this.app = device.app;
    const schema = APP_SCHEMAS[this.app];
    this.owner = { name, isAlive: true, wallMs: () => device.clock.nowMs() };
    this.medium = device.storage.medium();
    const durability = device.isStrict ? 'strict' : 'relaxed';
    const openerOn = (runtime: SqliteRuntime): OpenLocal =>
      createLocalOpener({
        name: 'household',
        schema,
        migrations: null,
        databaseId: DATABASE_ID,
        principal: null,
        durability,
        medium: this.medium,
        tuning: TUNING,
        runtime: Promise.resolve(runtime),
      });
    this.openers = { writer: openerOn(runtimes.writers), reader: openerOn(runtimes.readers) };
    this.presence = device.showsPresence ? this.run(() => this.createPresence()) : null;
    let ids = 0;
    this.membership = new Membership<OpenDatabase>({
      scope: 'household',
      schema: SCHEMA_JSON[this.app],
      migrationCount: 0,
      tabOptions: { sync: { url: 'ws://server', databaseId: DATABASE_ID, principal: null }, durability },
      initialStatus: STATUS,
      locks: device.browser.locks(this.owner),
      openPort: (channelName) => device.browser.openPort(channelName, this.owner),
      clock: systemClock,
      newId: () => `${name}-${++ids}`,
      sharesFiles: device.storage.isShared,
      openDatabase: (role, onUndone) => this.open(role, onUndone),
      startWork: (tools) =>
        startSync({
          target: { url: 'ws://server', databaseId: DATABASE_ID },
          token: async () => device.token(),
          tools,
          persistence: 'opfs',
          ...(this.presence !== null && { presence: this.presence.worker }),
          snapshots: snapshotSource({
            name: 'household',
            medium: this.medium,
            schema: tools.database.schema,
            runtime: runtimes.writers,
            download: (_events, signal) => device.download(signal),
            databaseIdentity: () => tools.database.meta.databaseIdentity,
          }),
        }),
      onTouched: () => {
        this.isDirty = true;
      },
      onFirstSync: () => undefined,
      onStatus: (status, role) => {
        if (this.owner.isAlive && status.reason !== null) device.onTrouble(this, status.reason);
        if (CONNECTED.has(status.state) && !CONNECTED.has(this.status.state)) this.connectedMs = device.time.nowMs;
        this.status = status;
        if (role === 'leader' && this.role !== 'leader') device.onLeader();
        this.role = role;
      },
      onProblem: (error) => this.note(error),
      onEnded: (error) => {
        if (this.owner.isAlive && error.code !== 'client-closed') device.onEnded(this, error);
      },
    });
  }

  /** Whether the tab can run queries, so that a transaction can be planned from their results. */
  get isUsable(): boolean {
    return this.owner.isAlive && !this.isSuspended && this.view !== null;
  }

  /** Whether the tab has no database of its own and reads through the leader. */
  get readsThroughLeader(): boolean {
    return !this.device.storage.isShared && this.opened === null;
  }

  /**
   * Whether the results of the tab's reads cannot be checked directly, because another tab has the database open, or
   * because the medium may still undo a commit.
   */
  get readsLater(): boolean {
    return this.opened === null || this.device.storage.kind === 'indexeddb' || this.isWriting;
  }

  /** Whether a transaction of several calls is open on the tab's connection. */
  get isWriting(): boolean {
    return this.opened?.role === 'writer' && this.opened.database.connection.inTransaction;
  }

  /** The database that its reads show. */
  get view(): OpenDatabase | null {
    if (this.opened !== null) return this.opened.database;
    return this.readsThroughLeader && this.role === 'follower' ? (this.device.leader?.opened?.database ?? null) : null;
  }

  /** The page goes into the back-forward cache, as in open-tab.ts. */
  suspend(): Promise<void> {
    this.presence?.worker.suspend();
    return this.membership.suspend();
  }

  resume(): Promise<void> {
    this.presence?.worker.resume();
    return this.membership.resume();
  }

  close(): Promise<void> {
    this.presence?.worker.close();
    return this.membership.close();
  }

  /** Shows a state to the other pages; null hides it. */
  show(state: number | null): void {
    this.presenceState = state;
    this.hasShown ||= state !== null;
    this.run(() => this.presence?.page.set(state));
  }

  write(statements: readonly SqlStatement[], isAtomic = false): Promise<unknown> {
    return this.run(() =>
      isAtomic ? this.membership.write(statements, { kind: 'atomic' }) : this.membership.write(statements),
    );
  }

  run<T>(body: () => T): T {
    return this.device.time.as(this.owner, body);
  }

  /** Runs a task that nothing awaits. */
  settle(body: () => Promise<void>): void {
    this.run(body).catch((thrown: unknown) => this.note(toRockpoolError(thrown)));
  }

  /** Kills the worker at this point. May be called from within its own storage calls. */
  kill(): void {
    if (!this.owner.isAlive) return;
    this.owner.isAlive = false;
    this.medium.kill();
    this.device.browser.forget(this.owner);
    this.device.onKilled(this);
  }

  private createPresence(): ShownPresence {
    const { device, owner } = this;
    const onProblem = (error: RockpoolError): void => this.note(error);
    const worker = createWorkerPresence({
      scope: 'household',
      openPort: (channelName) => device.browser.openPort(channelName, owner),
      locks: device.browser.locks(owner),
      clock: systemClock,
      onUpdate: (update) => page.hear(update),
      onProblem,
    });
    const page = new PagePresence({
      tabId: newId(),
      show: (tabId, states) => this.run(() => worker.show(tabId, states)),
      onProblem,
    });
    return { worker, page: page.about('') };
  }

  private note(error: RockpoolError): void {
    if (this.owner.isAlive && error.code !== 'client-closed') this.device.onProblem(this, error);
  }

  private async open(role: 'writer' | 'reader', onUndone: () => void): Promise<OpenedDatabase<OpenDatabase>> {
    const { device } = this;
    const inner = await this.openers[role](role, () => {
      device.record.onUndone(this);
      onUndone();
    });
    device.onOpened(inner);
    if (role === 'writer') inner.database.connection.exec(APP_SQL);
    const opened = role === 'writer' ? device.record.recorded(this, inner) : inner;
    this.opened = { database: opened.database, role };
    return {
      ...opened,
      close: async (how) => {
        if (this.opened?.database === opened.database) this.opened = null;
        device.onClosing(inner);
        await opened.close(how);
      },
    };
  }
}
