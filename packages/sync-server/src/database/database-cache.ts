import { RockpoolError } from '@rockpool/shared';
import type { Quotas, Room } from '../admission/quotas.ts';
import type { Validate } from '../admission/validate.ts';
import type { ColdDatabases } from '../backup/cold-databases.ts';
import type { ContinuousBackup } from '../backup/continuous-backup.ts';
import type { Bus } from '../bus/bus.ts';
import type { DocumentPool } from '../documents/document-pool.ts';
import type { FollowedCommit } from '../observe/push-trace.ts';
import { PresenceRelay } from '../presence/presence-relay.ts';
import { LiveDatabase } from './live-database.ts';
import type { Retention } from '../log/retention.ts';
import type { DamageProblem } from '../store/file-damage.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { KnownSchemas } from '../store/known-schemas.ts';
import type { Store } from '../store/store.ts';
import { DatabaseMarked } from '../store/postgres/move-mark.ts';
import { storeFailure } from '../store/store-failure.ts';
import { Yielder } from './yielder.ts';

/**
 * Maximum number of idle databases that stay open: reopening costs a few milliseconds, an open database a few
 * descriptors and its page cache.
 */
export const MAX_IDLE_DATABASES = 64;

/** Idle databases that are not copied yet stay open longer, up to this multiple of the maximum. */
const MAX_UNCOPIED_FACTOR = 4;

export interface DatabaseCacheOptions {
  readonly store: Store;
  readonly onFailure: (databaseId: string, error: unknown) => void;
  /** Called with each database that was opened. */
  readonly onOpened?: (databaseId: string, file: DatabaseFile) => void;
  readonly retention: Retention;
  /** See LiveDatabaseOptions. */
  readonly schemas?: KnownSchemas;
  readonly quotas?: Quotas;
  readonly roomOf?: (databaseId: string) => Room;
  readonly deliveryPartBytes?: number | undefined;
  /** See AdmissionRules. */
  readonly turnMs?: number;
  readonly validate?: ((databaseId: string) => Validate) | null;
  /** Carries presence to the other instances. Default: a server of one instance. */
  readonly bus?: Bus | null;
  /** Threads for large documents. Default: none. */
  readonly documentPool?: DocumentPool | null;
  /** Whether a client that needs the full state should download a snapshot instead. Default: never. */
  readonly offersSnapshot?: (databaseId: string) => boolean;
  /** See LiveDatabaseOptions. */
  readonly onFollowed?: ((followed: FollowedCommit) => void) | undefined;
  readonly maxIdleDatabases?: number;
  /** Databases that are known to be damaged, with their errors. Default: none. */
  readonly damaged?: ReadonlyMap<string, RockpoolError>;
  /** Copies open databases. Default: none. */
  readonly backup?: Pick<ContinuousBackup, 'attach' | 'isPending'> | null;
  /** Fetches an unloaded database. Default: no database is unloaded. */
  readonly cold?: Pick<ColdDatabases, 'prepare'> | null;
}

/** The open databases, each opened once. Closes idle ones, least recently used first. */
export class DatabaseCache {
  private readonly options: DatabaseCacheOptions;
  // The open databases in order of last use.
  private readonly open = new Map<string, LiveDatabase>();
  private readonly damaged = new Set<string>();
  // The errors of databases that must stay closed for now.
  private readonly held = new Map<string, RockpoolError>();
  private readonly ending = new Set<Promise<void>>();
  // The databases that were idle at the last call of `closeUnused`, and that nobody has used since.
  private readonly unused = new WeakSet<LiveDatabase>();
  private readonly opening = new Map<string, Promise<LiveDatabase>>();
  // Opening or closing a file takes milliseconds, which add up to seconds when all clients reconnect at once.
  private readonly yielder = new Yielder();
  private isSweeping = false;
  private isClosed = false;

  constructor(options: DatabaseCacheOptions) {
    this.options = options;
    for (const [databaseId, error] of options.damaged ?? []) {
      this.damaged.add(databaseId);
      options.onFailure(databaseId, error);
    }
  }

  /**
   * Creates the database at its first use. Use the result in the same turn of the event loop: later it may be closed as
   * idle. The caller has checked the id. Throws `schema-incompatible`, `database-damaged` or `database-unavailable`.
   */
  async get(databaseId: string): Promise<LiveDatabase> {
    if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
    this.requireFree(databaseId);
    const database = this.open.get(databaseId) ?? (await this.openOnce(databaseId));
    // Throws if the database was held while it was being opened.
    this.requireFree(databaseId);
    this.open.delete(databaseId);
    this.open.set(databaseId, database);
    this.unused.delete(database);
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

  /** Closes all databases, also if some cannot be closed. Rejects with the first failure. */
  async closeAll(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled(this.opening.values());
    await Promise.allSettled(this.ending);
    const databases = [...this.open];
    this.open.clear();
    const closing = databases.map(async ([databaseId, database]) => {
      try {
        await database.close();
      } catch (error) {
        this.closingFailed(databaseId, error);
        throw error;
      }
    });
    await Promise.allSettled(closing);
    await Promise.all(closing);
  }

  /** See Databases.hold. */
  async hold(databaseId: string, error: RockpoolError): Promise<void> {
    this.held.set(databaseId, error);
    await this.opening.get(databaseId)?.catch(() => undefined);
    const live = this.open.get(databaseId);
    if (live === undefined) return;
    this.open.delete(databaseId);
    const ending = live.end(error);
    this.ending.add(ending);
    try {
      await ending;
    } finally {
      this.ending.delete(ending);
    }
  }

  /** Whether a database is open, being opened or held. */
  isInUse(databaseId: string): boolean {
    return this.open.has(databaseId) || this.opening.has(databaseId) || this.held.has(databaseId);
  }

  isHeld(databaseId: string): boolean {
    return this.held.has(databaseId);
  }

  isHeldBy(databaseId: string, error: RockpoolError): boolean {
    return this.held.get(databaseId) === error;
  }

  /**
   * See Databases.release. The file may have been replaced, so it no longer counts as damaged. With an error, does
   * nothing if the database is held with a different error.
   */
  release(databaseId: string, error?: RockpoolError): void {
    if (error !== undefined && !this.isHeldBy(databaseId, error)) return;
    this.held.delete(databaseId);
    this.damaged.delete(databaseId);
  }

  private requireFree(databaseId: string): void {
    const error = this.held.get(databaseId);
    if (error !== undefined) throw error;
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
      schemas,
      quotas,
      roomOf,
      validate = null,
      turnMs,
      deliveryPartBytes,
      bus = null,
      documentPool = null,
      offersSnapshot = () => false,
      onFailure,
      onOpened = () => undefined,
    } = this.options;
    const fail = (error: unknown): void => {
      const failure = storeFailure(error);
      if (failure.code === 'database-damaged') this.takeOffline(databaseId, failure);
      else onFailure(databaseId, failure);
    };
    let live: LiveDatabase | null = null;
    let lostAtOnce: RockpoolError | null = null;
    try {
      await this.options.cold?.prepare(databaseId);
      await this.yielder.next();
      const opened = await store.open(databaseId, {
        onCaughtUp: (from, traceparent) => live?.followed(from, traceparent),
        onLost: (error) => {
          const isMarked = error instanceof DatabaseMarked;
          if (!isMarked) fail(error);
          if (live === null) lostAtOnce = storeFailure(error);
          else this.lose(databaseId, live, isMarked ? error : undefined);
        },
      });
      // The disk may fail before any session uses the database: opening it syncs the log of a killed server.
      if (lostAtOnce !== null) {
        opened.close();
        throw lostAtOnce;
      }
      onOpened(databaseId, opened.file);
      live = new LiveDatabase(opened, {
        retention,
        ...(schemas !== undefined && { schemas }),
        ...(quotas !== undefined && { quotas }),
        ...(roomOf !== undefined && { room: roomOf(databaseId) }),
        validate: validate === null ? null : validate(databaseId),
        turnMs,
        deliveryPartBytes,
        documentPool,
        offersSnapshot: () => offersSnapshot(databaseId),
        presenceRelay: bus === null ? null : new PresenceRelay({ bus, databaseId, onError: fail }),
        onFailure: fail,
        onFollowed: (followed) => this.options.onFollowed?.({ ...followed, databaseId }),
      });
      this.open.set(databaseId, live);
      this.damaged.delete(databaseId);
      this.options.backup?.attach(databaseId, opened.file.sql);
      return live;
    } catch (error) {
      const failure = storeFailure(error);
      // The backup could not attach: sessions would write what no copy contains.
      if (live !== null) this.lose(databaseId, live, failure);
      if (failure.code === 'database-damaged' && !this.damaged.has(databaseId)) this.markDamaged(databaseId, failure);
      if (failure.code === 'database-damaged' || failure !== error) onFailure(databaseId, failure);
      throw failure;
    }
  }

  /** Takes a damaged database offline: ends its sessions with the error, and refuses to open it from now on. */
  takeOffline(databaseId: string, error: RockpoolError): void {
    if (!this.damaged.has(databaseId)) this.options.onFailure(databaseId, error);
    this.markDamaged(databaseId, error);
    const live = this.open.get(databaseId);
    if (live !== undefined) this.lose(databaseId, live, error);
  }

  private markDamaged(databaseId: string, error: RockpoolError): void {
    const { store, onFailure } = this.options;
    const problem = error.fields['problem'] as DamageProblem;
    this.damaged.add(databaseId);
    // A missing or empty file needs no mark: each start notices it, and the database opens again once the file is put
    // back.
    if (problem === 'missing' || problem === 'empty') return;
    try {
      store.markDamaged(databaseId, problem);
    } catch (failure) {
      // The disk may be full, or read-only after a failure. The database goes offline in any case.
      onFailure(databaseId, storeFailure(failure));
    }
  }

  private lose(
    databaseId: string,
    live: LiveDatabase,
    error: RockpoolError = new RockpoolError('database-unavailable'),
  ): void {
    // Stops if the database was closed meanwhile.
    if (this.open.get(databaseId) !== live) return;
    this.open.delete(databaseId);
    live.lose(error);
  }

  /** Closes the databases that have been idle since the last call, however few are open. */
  async closeUnused(): Promise<void> {
    for (const [databaseId, database] of [...this.open]) {
      await this.yielder.next();
      if (this.isClosed || this.open.get(databaseId) !== database) continue;
      const isUnused = database.isIdle && this.options.backup?.isPending(databaseId) !== true;
      if (!isUnused) this.unused.delete(database);
      else if (!this.unused.has(database)) this.unused.add(database);
      else {
        this.open.delete(databaseId);
        await this.closeNow(databaseId, database);
      }
    }
  }

  private async closeIdle(): Promise<void> {
    this.isSweeping = true;
    for (let found = true; found;) {
      await this.yielder.next();
      found = !this.isClosed && this.closeLongestIdle();
    }
    this.isSweeping = false;
  }

  /** False if the idle databases do not exceed the maximum. */
  private closeLongestIdle(): boolean {
    const { backup = null, maxIdleDatabases = MAX_IDLE_DATABASES } = this.options;
    const idle = [...this.open].filter(([, database]) => database.isIdle);
    const isTooMany = idle.length > maxIdleDatabases * MAX_UNCOPIED_FACTOR;
    const longest = idle.find(([databaseId]) => isTooMany || backup?.isPending(databaseId) !== true);
    if (longest === undefined || idle.length <= maxIdleDatabases) return false;
    this.open.delete(longest[0]);
    void this.closeNow(...longest);
    return true;
  }

  private async closeNow(databaseId: string, database: LiveDatabase): Promise<void> {
    try {
      await database.close();
    } catch (error) {
      this.closingFailed(databaseId, error);
    }
  }

  /** SQLite moves a damaged log into the file when it closes it, so without its mark the database would open again. */
  private closingFailed(databaseId: string, error: unknown): void {
    const failure = storeFailure(error);
    if (failure.code === 'database-damaged') this.takeOffline(databaseId, failure);
    else this.options.onFailure(databaseId, failure);
  }
}
