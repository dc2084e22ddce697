import { RockpoolError } from '@rockpool/shared';
import { Snapshots, type Snapshot, type SnapshotRules } from '../snapshot/snapshots.ts';
import { damagedError } from '../store/file-damage.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { Store } from '../store/store.ts';
import { verifyPages } from '../store/verify-pages.ts';
import type { DatabaseCache } from './database-cache.ts';

export interface DatabaseSnapshotsOptions {
  readonly dataDir: string;
  /** The folder of the files in the data directory. Default: `snapshots`. */
  readonly folder?: string;
  readonly store: Pick<Store, 'pathOf'>;
  readonly databases: Pick<DatabaseCache, 'get' | 'takeOffline'>;
  readonly rules: SnapshotRules;
}

/** Snapshots of open databases, checked for damage before they are built, and durable before they are returned. */
export class DatabaseSnapshots {
  private readonly options: DatabaseSnapshotsOptions;
  private readonly snapshots: Snapshots;
  private readonly stopping = new AbortController();

  constructor(options: DatabaseSnapshotsOptions) {
    this.options = options;
    const { dataDir, folder, store, rules } = options;
    this.snapshots = new Snapshots({
      dataDir,
      ...(folder !== undefined && { folder }),
      pathOf: (databaseId) => store.pathOf(databaseId),
      requireIntact: (databaseId) => this.requireIntact(databaseId),
      rules,
    });
  }

  isOffered(databaseId: string): boolean {
    return this.snapshots.isOffered(databaseId);
  }

  /** See Databases.snapshot. */
  async get(databaseId: string, schemaHash: string, rows: ReadableRows): Promise<Snapshot | null> {
    const { databases } = this.options;
    const {
      schema,
      logEpoch,
      log: { watermark },
      tombstones,
    } = (await databases.get(databaseId)).file;
    if (schema.hash !== schemaHash) throw new RockpoolError('schema-mismatch');
    const position = {
      logEpoch: Buffer.from(logEpoch.id).toString('hex'),
      watermark,
      tombstoneHorizon: tombstones.tombstoneHorizon,
      schemaHash,
    };
    const snapshot = await this.snapshots.get(databaseId, position, rows);
    // The snapshot may contain a commit that was not durable yet when it was read.
    const live = await databases.get(databaseId);
    await live.catchUp();
    // Throws if the database was replaced while the snapshot was built.
    if (snapshot !== null && Buffer.from(live.file.logEpoch.id).toString('hex') !== snapshot.logEpoch)
      throw new RockpoolError('database-unavailable', { problem: 'the database was replaced' });
    return snapshot;
  }

  forget(databaseId: string): void {
    this.snapshots.forget(databaseId);
  }

  /** Cancels the check of a file, and waits for a build for at most 5 s. */
  close(): Promise<void> {
    this.stopping.abort(new RockpoolError('database-unavailable', { problem: 'the server is stopping' }));
    return this.snapshots.close();
  }

  private async requireIntact(databaseId: string): Promise<void> {
    const { store, databases } = this.options;
    const { damaged: pages } = await verifyPages(store.pathOf(databaseId), { signal: this.stopping.signal });
    if (pages.length === 0) return;
    const error = damagedError('page-checksum', { pages: pages.length });
    databases.takeOffline(databaseId, error);
    throw error;
  }
}
