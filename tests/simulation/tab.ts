import { encodeSchema, toRockpoolError, type RockpoolError } from '../../packages/shared/src/index.ts';
import { openStorage } from '../../packages/vfs-opfs/src/index.ts';
import type { SimulatedMedium } from '../../packages/vfs-opfs/testing/index.ts';
import type { LeaderStatus } from '../../packages/client/src/worker/leader/channel-message.ts';
import { systemClock } from '../../packages/client/src/worker/leader/clock.ts';
import { Membership } from '../../packages/client/src/worker/leader/membership.ts';
import type { OpenedDatabase } from '../../packages/client/src/worker/leader/opened-database.ts';
import { INITIAL_STATUS, type TabRole } from '../../packages/client/src/rpc/sync-status.ts';
import type { SqlStatement } from '../../packages/client/src/rpc/sql-statement.ts';
import { localReads } from '../../packages/client/src/worker/database/local-reads.ts';
import { snapshotSource } from '../../packages/client/src/worker/first-sync/snapshot-source.ts';
import { openDatabase, type OpenDatabase } from '../../packages/client/src/worker/database/open-database.ts';
import type { SqliteRuntime } from '../../packages/client/src/worker/sqlite/sqlite-runtime.ts';
import { storageFailure } from '../../packages/client/src/worker/storage/storage-failure.ts';
import { startSync } from '../../packages/client/src/worker/sync/start-sync.ts';
import type { Device } from './device.ts';
import { APP_SQL, householdSchema } from './household-schema.ts';
import { DATABASE_ID } from './server-disk.ts';
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

const SCHEMA_JSON = encodeSchema(householdSchema);

/**
 * One tab of a device: the real membership, leadership, storage, database and sync, in a worker that can die at any
 * storage call.
 */
export class Tab {
  readonly owner: Owner;
  readonly device: Device;
  readonly medium: SimulatedMedium;
  readonly membership: Membership<OpenDatabase>;
  opened: { readonly database: OpenDatabase; readonly role: 'writer' | 'reader' } | null = null;
  role: TabRole | null = null;
  status: LeaderStatus = STATUS;
  isSuspended = false;
  /** It was notified of a commit and not checked since. */
  isDirty = false;
  /** What its page shows since the last commit notice; null before the first. */
  shown: string | null = null;
  /** When its page last showed the current state. */
  comparedMs = 0;
  private readonly runtimes: Runtimes;

  constructor(device: Device, name: string, runtimes: Runtimes) {
    this.device = device;
    this.runtimes = runtimes;
    this.owner = { name, isAlive: true, wallMs: () => device.clock.nowMs() };
    this.medium = device.disk.medium();
    let ids = 0;
    this.membership = new Membership<OpenDatabase>({
      scope: 'household',
      schema: SCHEMA_JSON,
      migrationCount: 0,
      tabOptions: { sync: { url: 'ws://server', databaseId: DATABASE_ID, principal: null }, durability: 'relaxed' },
      initialStatus: STATUS,
      locks: device.browser.locks(this.owner),
      openPort: (channelName) => device.browser.openPort(channelName, this.owner),
      clock: systemClock,
      newId: () => `${name}-${++ids}`,
      sharesFiles: true,
      openDatabase: (role) => this.open(role),
      startWork: (tools) =>
        startSync({
          target: { url: 'ws://server', databaseId: DATABASE_ID },
          token: () => Promise.resolve(device.name),
          tools,
          persistence: 'opfs',
          snapshots: snapshotSource({
            name: 'household',
            medium: this.medium,
            schema: householdSchema,
            runtime: runtimes.writers,
            download: () => device.download(),
            databaseIdentity: () => tools.database.meta.databaseIdentity,
          }),
        }),
      onTouched: () => {
        this.isDirty = true;
      },
      onFirstSync: () => undefined,
      onStatus: (status, role) => {
        if (this.owner.isAlive && status.reason !== null) device.onTrouble(this, status.reason);
        this.status = status;
        if (role === 'leader' && this.role !== 'leader') device.onLeader();
        this.role = role;
      },
      onProblem: (error) => this.note(error),
      onEnded: (error) => this.note(error),
    });
  }

  get isUsable(): boolean {
    return this.owner.isAlive && !this.isSuspended && this.opened !== null;
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

  private note(error: RockpoolError): void {
    if (this.owner.isAlive && error.code !== 'client-closed') this.device.onProblem(this, error);
  }

  private async open(role: 'writer' | 'reader'): Promise<OpenedDatabase<OpenDatabase>> {
    const runtime = role === 'writer' ? this.runtimes.writers : this.runtimes.readers;
    const storage = await openStorage({ name: 'household', medium: this.medium, role, tuning: TUNING }).catch(
      (thrown: unknown) => {
        throw storageFailure(thrown);
      },
    );
    try {
      storage.register(runtime.module as never);
      const database = openDatabase({
        runtime,
        path: storage.path,
        vfsName: storage.vfsName,
        role,
        schema: householdSchema,
        databaseId: DATABASE_ID,
        randomBytes: (count) => this.device.random.bytes(count),
        nowMs: () => Date.now(),
        flush: () => storage.flush(),
        storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)),
      });
      this.device.onOpened(database, storage);
      if (role === 'writer') database.connection.exec(APP_SQL);
      const mine = role === 'writer' ? this.device.recorded(this, database) : database;
      this.opened = { database: mine, role };
      return {
        database: mine,
        reads: localReads(mine, { backup: () => Promise.reject(new Error('the simulation makes no backups')) }),
        close: async () => {
          if (this.opened?.database === mine) this.opened = null;
          this.device.onClosing(database);
          database.close();
          await storage.close();
        },
      };
    } catch (thrown) {
      await storage.close().catch(() => undefined);
      throw storageFailure(thrown);
    }
  }
}
