import type { RockpoolError } from '@rockpool/shared';
import { QUOTAS, type Quotas, type Room } from '../admission/quotas.ts';
import type { ChangesetToValidate } from '../admission/validate.ts';
import type { Bus } from '../bus/bus.ts';
import { DocumentPool } from '../documents/document-pool.ts';
import { answerHistory, type HistoryRequest } from '../history/answer-history.ts';
import { RETENTION, type Retention } from '../log/retention.ts';
import { errorFields, logFailure, type Logger } from '../observe/log-line.ts';
import { SNAPSHOT_RULES, type Snapshot, type SnapshotRules } from '../snapshot/snapshots.ts';
import { damagedError } from '../store/file-damage.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { Scrubber, SCRUB_TIMES, type ScrubTimes } from '../store/scrub.ts';
import type { Store } from '../store/store.ts';
import { DatabaseCache } from './database-cache.ts';
import { DatabaseSnapshots } from './database-snapshots.ts';
import type { Databases } from './databases.ts';
import type { LiveDatabase } from './live-database.ts';

/** A commit that has taken this long takes no more changesets. A changeset cannot be interrupted. */
const TURN_MS = 50;

/** Rules of all databases: plain data, so that they can be sent to another thread. */
export interface HostRules {
  readonly retention?: Partial<Retention> | undefined;
  readonly quotas?: Partial<Quotas> | undefined;
  readonly snapshots?: Partial<SnapshotRules> | undefined;
  /** Null: files are not compared with their checksums. */
  readonly scrub?: Partial<ScrubTimes> | null | undefined;
  readonly deliveryPartBytes?: number | undefined;
}

export interface DatabaseHostOptions {
  readonly dataDir: string;
  readonly schemaHash: string;
  readonly rules: HostRules;
  readonly store: Store;
  /** Carries presence to the other instances. Null: a server of one instance. */
  readonly bus: Bus | null;
  readonly roomOf: (databaseId: string) => Room;
  readonly log: Logger;
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
  private readonly documentPool: DocumentPool;
  private readonly scrubber: Scrubber | null;

  constructor(options: DatabaseHostOptions) {
    const { dataDir, schemaHash, store, documentThreads, snapshotFolder, rules } = options;
    this.documentPool = new DocumentPool(documentThreads === undefined ? {} : { size: documentThreads });
    this.cache = this.openCache(options);
    this.snapshots = new DatabaseSnapshots({
      dataDir,
      ...(snapshotFolder !== undefined && { folder: snapshotFolder }),
      store,
      databases: this.cache,
      rules: { ...SNAPSHOT_RULES, ...rules.snapshots },
      schemaHash,
    });
    this.scrubber = this.startScrubber(options);
  }

  open(databaseId: string): Promise<LiveDatabase> {
    return this.cache.get(databaseId);
  }

  snapshot(databaseId: string, rows: ReadableRows): Promise<Snapshot | null> {
    return this.snapshots.get(databaseId, rows);
  }

  async history(
    databaseId: string,
    request: HistoryRequest,
    rows: ReadableRows,
    nowMs: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const database = await this.cache.get(databaseId);
    return database.read(() => answerHistory(database.file, request, rows, nowMs));
  }

  takeOffline(databaseId: string, error: RockpoolError): void {
    this.cache.takeOffline(databaseId, error);
  }

  get openCount(): number {
    return this.cache.count;
  }

  get damagedCount(): number {
    return this.cache.damagedCount;
  }

  async close(): Promise<void> {
    try {
      await Promise.all([this.snapshots.close(), this.scrubber?.close()]);
    } finally {
      await this.cache.closeAll();
      await this.documentPool.close();
    }
  }

  private openCache({ store, bus, rules, roomOf, validate, log }: DatabaseHostOptions): DatabaseCache {
    return new DatabaseCache({
      store,
      documentPool: this.documentPool,
      bus,
      retention: { ...RETENTION, ...rules.retention },
      quotas: { ...QUOTAS, ...rules.quotas },
      roomOf,
      turnMs: TURN_MS,
      deliveryPartBytes: rules.deliveryPartBytes,
      offersSnapshot: (databaseId) => this.snapshots.isOffered(databaseId),
      validate: validate === undefined ? null : (databaseId) => (changeset) => validate(databaseId, changeset),
      onFailure: (database, error) => logFailure(log, database, error),
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
