import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { QUOTAS, type Quotas, type Room } from '../admission/quotas.ts';
import type { ChangesetToValidate } from '../admission/validate.ts';
import { BACKUP_INTERVAL_MS, BACKUP_KEEP_MS, type BackupRun } from '../backup/backup-rules.ts';
import type { BackupState } from '../backup/backup-state.ts';
import { ColdDatabases } from '../backup/cold-databases.ts';
import { ContinuousBackup } from '../backup/continuous-backup.ts';
import { openDestination } from '../backup/open-destination.ts';
import type { Bus } from '../bus/bus.ts';
import { DocumentPool } from '../documents/document-pool.ts';
import { answerHistory, type HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { WrittenRowsRequest } from '../history/written-rows.ts';
import { PastStates, type PastState } from '../history/past-states.ts';
import { RETENTION, type Retention } from '../log/retention.ts';
import { errorFields, logFailure, type Logger } from '../observe/log-line.ts';
import type { FollowedCommit } from '../observe/push-trace.ts';
import { SNAPSHOT_RULES, type Snapshot, type SnapshotRules } from '../snapshot/snapshots.ts';
import { closeInOrder } from '../store/close-in-order.ts';
import { damagedIds } from '../store/data-directory.ts';
import { damageBeforeOpening, damagedError } from '../store/file-damage.ts';
import type { KnownSchemas } from '../store/known-schemas.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { Scrubber, SCRUB_TIMES, type ScrubTimes } from '../store/scrub.ts';
import type { Store } from '../store/store.ts';
import { DatabaseCache } from './database-cache.ts';
import { DatabaseSnapshots } from './database-snapshots.ts';
import type { Databases } from './databases.ts';
import type { LiveDatabase } from './live-database.ts';

/** How long a stopping server copies pending changes. The next start continues. */
const LAST_COPIES_MS = 10_000;

/** A commit that has taken this long admits no more changesets. A single changeset cannot be interrupted. */
const TURN_MS = 50;

/** Rules of all databases: plain data, so that they can be sent to another thread. */
export interface HostRules {
  readonly retention?: Partial<Retention> | undefined;
  readonly quotas?: Partial<Quotas> | undefined;
  readonly snapshots?: Partial<SnapshotRules> | undefined;
  /** Null to run no scrub of the page checksums. */
  readonly scrub?: Partial<ScrubTimes> | null | undefined;
  readonly deliveryPartBytes?: number | undefined;
  /** Null if there is no continuous backup. */
  readonly backup?: BackupRun | null | undefined;
}

export interface DatabaseHostOptions {
  readonly dataDir: string;
  /** The hash of the server's own schema. */
  readonly schemaHash: string;
  /** The schemas of clients that are served. */
  readonly schemas: KnownSchemas;
  readonly rules: HostRules;
  readonly store: Store;
  /** Carries presence to the other instances. Null for a server of one instance. */
  readonly bus: Bus | null;
  readonly roomOf: (databaseId: string) => Room;
  readonly log: Logger;
  /** See LiveDatabaseOptions. */
  readonly onFollowed?: ((followed: FollowedCommit) => void) | undefined;
  readonly validate?: ((databaseId: string, changeset: ChangesetToValidate) => string | null) | undefined;
  /** Threads for large documents. Default: see DocumentPool. */
  readonly documentThreads?: number;
  /** A folder of snapshots that no other host uses. Default: `snapshots`. */
  readonly snapshotFolder?: string;
  /** Whether this host owns a database. Default: it owns all of them. */
  readonly owns?: (databaseId: string) => boolean;
}

/** Owns databases on this thread: the open ones, their snapshots, the check of their files, threads for documents. */
export class DatabaseHost implements Databases {
  private readonly cache: DatabaseCache;
  private readonly snapshots: DatabaseSnapshots;
  private readonly pastStates: PastStates;
  private readonly store: Store;
  private readonly documentPool: DocumentPool;
  private readonly scrubber: Scrubber | null;
  // Hashes of the database schemas that contain more than the server's schema. Each is logged once.
  private readonly newerSchemas = new Set<string>();
  private readonly backup: ContinuousBackup | null;
  private readonly cold: ColdDatabases | null;

  constructor(options: DatabaseHostOptions) {
    const { dataDir, store, documentThreads, snapshotFolder, rules } = options;
    this.documentPool = new DocumentPool(documentThreads === undefined ? {} : { size: documentThreads });
    this.backup = this.openBackup(options);
    this.cold = this.openCold(options);
    this.cache = this.openCache(options);
    void this.backup?.start().catch((error: unknown) => options.log('backup-failed', errorFields(error)));
    this.snapshots = new DatabaseSnapshots({
      dataDir,
      ...(snapshotFolder !== undefined && { folder: snapshotFolder }),
      store,
      databases: this.cache,
      rules: { ...SNAPSHOT_RULES, ...rules.snapshots },
    });
    this.store = store;
    this.pastStates = new PastStates(join(dataDir, snapshotFolder ?? 'snapshots'));
    this.scrubber = this.startScrubber(options);
  }

  open(databaseId: string): Promise<LiveDatabase> {
    return this.cache.get(databaseId);
  }

  snapshot(databaseId: string, schemaHash: string, rows: ReadableRows): Promise<Snapshot | null> {
    return this.snapshots.get(databaseId, schemaHash, rows);
  }

  async history(databaseId: string, request: HistoryRequest, rows: ReadableRows, nowMs: number): Promise<Uint8Array> {
    if (request.kind === 'written') return this.writtenRows(databaseId, request, rows, nowMs);
    const database = await this.cache.get(databaseId);
    return database.read(() => answerHistory(database.file, request, rows, nowMs));
  }

  /** Requires a principal that may read every row, because rows are read without a filter. */
  private async writtenRows(
    databaseId: string,
    request: WrittenRowsRequest,
    rows: ReadableRows,
    nowMs: number,
  ): Promise<Uint8Array> {
    if (rows !== 'everything') throw new RockpoolError('auth-forbidden');
    await (await this.cache.get(databaseId)).catchUp();
    const answer = await this.pastStates.writtenRows(this.store.pathOf(databaseId), request, nowMs);
    // The result may contain a commit that was not durable yet when it was read.
    await (await this.cache.get(databaseId)).catchUp();
    return answer;
  }

  /** Requires a principal that may read every row. The receiver deletes the file. */
  async pastState(databaseId: string, moment: PastMoment, rows: ReadableRows, nowMs: number): Promise<PastState> {
    if (rows !== 'everything') throw new RockpoolError('auth-forbidden');
    await (await this.cache.get(databaseId)).catchUp();
    const state = await this.pastStates.build(databaseId, this.store.pathOf(databaseId), moment, nowMs);
    try {
      // The result may contain a commit that was not durable yet when it was read.
      await (await this.cache.get(databaseId)).catchUp();
    } catch (error) {
      // No receiver deletes the file.
      rmSync(state.path, { force: true });
      throw error;
    }
    return state;
  }

  takeOffline(databaseId: string, error: RockpoolError): void {
    this.cache.takeOffline(databaseId, error);
  }

  async hold(databaseId: string, error: RockpoolError): Promise<void> {
    await this.cache.hold(databaseId, error);
    this.snapshots.forget(databaseId);
  }

  release(databaseId: string): void {
    this.cache.release(databaseId);
    this.cold?.recount(databaseId);
  }

  get openCount(): number {
    return this.cache.count;
  }

  get damagedCount(): number {
    return this.cache.damagedCount;
  }

  /** Null if there is no continuous backup. */
  get backupState(): BackupState | null {
    return this.backup === null ? null : { ...this.backup.state, unloaded: this.cold?.unloadedCount ?? 0 };
  }

  async close(): Promise<void> {
    await closeInOrder(
      () => Promise.all([this.snapshots.close(), this.pastStates.close(), this.scrubber?.close()]),
      () => this.cold?.close(),
      () => this.backup?.flush(LAST_COPIES_MS),
      () => this.cache.closeAll(),
      () => this.backup?.close(),
      () => this.documentPool.close(),
    );
  }

  private openCache(options: DatabaseHostOptions): DatabaseCache {
    const { store, schemaHash, schemas, bus, rules, roomOf, validate, log, onFollowed } = options;
    return new DatabaseCache({
      store,
      documentPool: this.documentPool,
      schemas,
      bus,
      retention: { ...RETENTION, ...rules.retention },
      quotas: { ...QUOTAS, ...rules.quotas },
      roomOf,
      turnMs: TURN_MS,
      deliveryPartBytes: rules.deliveryPartBytes,
      offersSnapshot: (databaseId) => this.snapshots.isOffered(databaseId),
      validate: validate === undefined ? null : (databaseId) => (changeset) => validate(databaseId, changeset),
      onOpened: (database, file) => {
        if (file.schema.hash === schemaHash || this.newerSchemas.has(file.schema.hash)) return;
        this.newerSchemas.add(file.schema.hash);
        log('newer-schema', { database, schema: file.schema.hash, server: schemaHash });
      },
      onFailure: (database, error) => logFailure(log, database, error),
      onFollowed,
      backup: this.backup,
      cold: this.cold,
      damaged: this.damagedBefore(options),
    });
  }

  /** Databases that an earlier run took offline. Working copies of PostgreSQL are rebuilt. */
  private damagedBefore({ dataDir, rules, store, owns = () => true }: DatabaseHostOptions): Map<string, RockpoolError> {
    const ids = rules.scrub === null ? [] : damagedIds(dataDir).filter(owns);
    return new Map(ids.map((id) => [id, damagedError(damageBeforeOpening(store.pathOf(id)) ?? 'missing')]));
  }

  private openBackup({ dataDir, rules: { backup }, owns, log }: DatabaseHostOptions): ContinuousBackup | null {
    if (backup === undefined || backup === null) return null;
    const { intervalMs = BACKUP_INTERVAL_MS, keepMs = BACKUP_KEEP_MS, run } = backup;
    return new ContinuousBackup({
      dataDir,
      destination: openDestination(backup, process.env),
      ...{ run, intervalMs, keepMs, log },
      owns: owns ?? (() => true),
      open: (databaseId) => this.cache.get(databaseId),
      onDamaged: (databaseId, error) => this.takeOffline(databaseId, error),
      now: Date.now,
    });
  }

  private openCold({ dataDir, rules: { backup }, owns, log }: DatabaseHostOptions): ColdDatabases | null {
    if (backup === undefined || backup === null) return null;
    return new ColdDatabases({
      dataDir,
      destination: openDestination(backup, process.env),
      unloadAfterMs: backup.unloadAfterMs ?? null,
      owns: owns ?? (() => true),
      closeUnused: () => this.cache.closeUnused(),
      isInUse: (databaseId) => this.cache.isInUse(databaseId),
      hold: (databaseId, error) => this.hold(databaseId, error),
      isHeld: (databaseId) => this.cache.isHeld(databaseId),
      isHeldBy: (databaseId, error) => this.cache.isHeldBy(databaseId, error),
      release: (databaseId, error) => this.cache.release(databaseId, error),
      log,
      now: Date.now,
    });
  }

  private startScrubber({ dataDir, rules: { scrub }, owns, log }: DatabaseHostOptions): Scrubber | null {
    if (scrub === null) return null;
    return new Scrubber({
      dataDir,
      ...(owns !== undefined && { owns }),
      onDamaged: (databaseId, pages) => this.takeOffline(databaseId, damagedError('page-checksum', { pages })),
      onFailure: (database, error) => log('scrub-failed', { database, ...errorFields(error) }),
      times: { ...SCRUB_TIMES, ...scrub },
    });
  }
}
