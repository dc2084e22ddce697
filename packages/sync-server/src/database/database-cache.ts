import { RockpoolError } from '@rockpool/shared';
import type { Validate } from '../admission/validate.ts';
import type { Bus } from '../bus/bus.ts';
import type { DocumentPool } from '../documents/document-pool.ts';
import { PresenceRelay } from '../presence/presence-relay.ts';
import { LiveDatabase } from './live-database.ts';
import type { Retention } from '../log/retention.ts';
import type { DamageProblem } from '../store/file-damage.ts';
import type { Store } from '../store/store.ts';
import { storeFailure } from '../store/store-failure.ts';
import { Yielder } from './yielder.ts';

/**
 * Databases kept open without anybody connected: reopening costs a few milliseconds, an open one a few descriptors and
 * its page cache.
 */
export const MAX_IDLE_DATABASES = 64;

export interface DatabaseCacheOptions {
  readonly store: Store;
  readonly onFailure: (databaseId: string, error: unknown) => void;
  readonly retention: Retention;
  readonly deliveryPartBytes?: number | undefined;
  readonly validate?: ((databaseId: string) => Validate) | null;
  /** By which presence reaches the other instances of the server. Default: there are none. */
  readonly bus?: Bus | null;
  /** Threads for large documents. Default: none. */
  readonly documentPool?: DocumentPool | null;
  /** Whether whoever needs everything of a database should rather take a file. Default: never. */
  readonly offersSnapshot?: (databaseId: string) => boolean;
  readonly maxIdleDatabases?: number;
}

/** The open databases, each opened once. Those that nobody uses are closed, the least recently used first. */
export class DatabaseCache {
  private readonly options: DatabaseCacheOptions;
  // In order of last use.
  private readonly open = new Map<string, LiveDatabase>();
  private readonly damaged = new Set<string>();
  private readonly opening = new Map<string, Promise<LiveDatabase>>();
  // A file takes milliseconds to open or close: after a cut of the network they would add up to seconds.
  private readonly yielder = new Yielder();
  private isSweeping = false;
  private isClosed = false;

  constructor(options: DatabaseCacheOptions) {
    this.options = options;
  }

  /**
   * Makes the database at its first use. Throws `schema-incompatible` or `database-unavailable`. The id is checked
   * already. Whoever is given a database has to use it in the same turn of the event loop: later it may have been
   * closed as idle.
   */
  async get(databaseId: string): Promise<LiveDatabase> {
    if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server stops' });
    const database = this.open.get(databaseId) ?? (await this.openOnce(databaseId));
    this.open.delete(databaseId);
    this.open.set(databaseId, database);
    if (!this.isSweeping) void this.closeIdle();
    return database;
  }

  get count(): number {
    return this.open.size;
  }

  /** Databases that are offline because their files are damaged. */
  get damagedCount(): number {
    return this.damaged.size;
  }

  async closeAll(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled(this.opening.values());
    const databases = [...this.open.values()];
    this.open.clear();
    await Promise.all(databases.map(async (database) => database.close()));
  }

  private openOnce(databaseId: string): Promise<LiveDatabase> {
    const opening =
      this.opening.get(databaseId) ?? this.openNow(databaseId).finally(() => this.opening.delete(databaseId));
    this.opening.set(databaseId, opening);
    return opening;
  }

  private async openNow(databaseId: string): Promise<LiveDatabase> {
    const {
      store,
      retention,
      validate = null,
      deliveryPartBytes,
      bus = null,
      documentPool = null,
      offersSnapshot = () => false,
      onFailure,
    } = this.options;
    const fail = (error: unknown): void => {
      const failure = storeFailure(error);
      if (failure.code === 'database-damaged') this.takeOffline(databaseId, failure);
      else onFailure(databaseId, failure);
    };
    let live: LiveDatabase | null = null;
    try {
      await this.yielder.next();
      const opened = await store.open(databaseId, {
        onFollowed: () => live?.followed(),
        onLost: (error) => {
          fail(error);
          if (live !== null) this.lose(databaseId, live);
        },
      });
      live = new LiveDatabase(opened, {
        retention,
        validate: validate === null ? null : validate(databaseId),
        deliveryPartBytes,
        documentPool,
        offersSnapshot: () => offersSnapshot(databaseId),
        presenceRelay: bus === null ? null : new PresenceRelay({ bus, databaseId, onError: fail }),
        onFailure: fail,
      });
      this.open.set(databaseId, live);
      this.damaged.delete(databaseId);
      return live;
    } catch (error) {
      const failure = storeFailure(error);
      if (failure.code === 'database-damaged') this.damaged.add(databaseId);
      if (failure.code === 'database-damaged' || failure !== error) onFailure(databaseId, failure);
      throw failure;
    }
  }

  /**
   * Takes a database offline whose file is damaged: its sessions end with the error, and so does everybody who opens it
   * from now on.
   */
  takeOffline(databaseId: string, error: RockpoolError): void {
    const { store, onFailure } = this.options;
    if (!this.damaged.has(databaseId)) onFailure(databaseId, error);
    this.damaged.add(databaseId);
    store.markDamaged(databaseId, error.fields['problem'] as DamageProblem);
    const live = this.open.get(databaseId);
    if (live !== undefined) this.lose(databaseId, live, error);
  }

  private lose(
    databaseId: string,
    live: LiveDatabase,
    error: RockpoolError = new RockpoolError('database-unavailable'),
  ): void {
    // It may have been closed since.
    if (this.open.get(databaseId) !== live) return;
    this.open.delete(databaseId);
    live.lose(error);
  }

  private async closeIdle(): Promise<void> {
    this.isSweeping = true;
    for (let found = true; found;) {
      await this.yielder.next();
      found = !this.isClosed && this.closeLongestIdle();
    }
    this.isSweeping = false;
  }

  /** False: there are not too many. */
  private closeLongestIdle(): boolean {
    const idle = [...this.open].filter(([, database]) => database.isIdle);
    const [longest] = idle;
    if (longest === undefined || idle.length <= (this.options.maxIdleDatabases ?? MAX_IDLE_DATABASES)) return false;
    this.open.delete(longest[0]);
    void this.closeNow(...longest);
    return true;
  }

  private async closeNow(databaseId: string, database: LiveDatabase): Promise<void> {
    try {
      await database.close();
    } catch (error) {
      this.options.onFailure(databaseId, error);
    }
  }
}
