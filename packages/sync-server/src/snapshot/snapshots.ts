import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { holdLocks } from '../sqlite/beside-sqlite.ts';
import { databaseFileName } from '../store/data-directory.ts';
import { KeptThread } from '../store/kept-thread.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { SnapshotTask } from './snapshot-worker.ts';
import type { SnapshotFacts } from './write-snapshot.ts';

/** A finished snapshot file. */
export interface Snapshot extends SnapshotFacts {
  readonly path: string;
}

/** When a database is sent as a file, and for how long that file is used. */
export interface SnapshotRules {
  /** A smaller database is sent as a delivery. */
  readonly minFileBytes: number;
  /**
   * A snapshot is replaced when the log has grown by more than this. Until then, the missing rows arrive as a delivery.
   */
  readonly maxTailChangesets: number;
}

/**
 * A megabyte holds some 5,000 rows. A delivery of those, or of a tail of 2,000 changesets, takes a tenth of a second.
 */
export const SNAPSHOT_RULES: SnapshotRules = { minFileBytes: 1024 * 1024, maxTailChangesets: 2_000 };

/** The position of a database's log, by which a snapshot is matched. */
export interface LogPosition {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /** An older snapshot would contain deleted rows, because their tombstones are pruned. */
  readonly tombstoneHorizon: number;
  readonly schemaHash: string;
}

export interface SnapshotsOptions {
  readonly dataDir: string;
  /** The folder of the files in the data directory. Default: `snapshots`. */
  readonly folder?: string;
  /** The path of a database's file. */
  readonly pathOf: (databaseId: string) => string;
  /**
   * Rejects with `database-damaged` if pages of the file differ from their checksums: a snapshot would spread the
   * damage to every device.
   */
  readonly requireIntact: (databaseId: string) => Promise<void>;
  readonly rules: SnapshotRules;
}

/** Builds snapshots on request, one at a time, and keeps each while it is usable, but not across restarts. */
export class Snapshots {
  private readonly pathOf: (databaseId: string) => string;
  private readonly requireIntact: SnapshotsOptions['requireIntact'];
  private readonly rules: SnapshotRules;
  private readonly directory: string;
  private readonly kept = new Map<string, Snapshot & { readonly schemaHash: string }>();
  private readonly building = new Map<string, Promise<Snapshot>>();
  // One build at a time: a build takes a core, and the server should keep the others.
  private last: Promise<unknown> = Promise.resolve();
  private readonly thread = new KeptThread<SnapshotTask, SnapshotFacts>(
    new URL('./snapshot-worker.ts', import.meta.url),
  );
  private number = 0;
  private isClosed = false;

  constructor({ dataDir, folder = 'snapshots', pathOf, requireIntact, rules }: SnapshotsOptions) {
    this.pathOf = pathOf;
    this.requireIntact = requireIntact;
    this.rules = rules;
    this.directory = join(dataDir, folder);
    mkdirSync(this.directory, { recursive: true });
    this.removeFiles();
  }

  /** False if the database is too small for a snapshot. */
  isOffered(databaseId: string): boolean {
    return fileBytes(this.pathOf(databaseId)) >= this.rules.minFileBytes;
  }

  /**
   * Null if none is offered. A snapshot has every row, so only a principal that may read every row is offered one;
   * others receive their rows as a delivery. Throws `database-unavailable` while the server stops.
   */
  async get(databaseId: string, log: LogPosition, rows: ReadableRows): Promise<Snapshot | null> {
    this.requireRunning();
    if (rows !== 'everything' || !this.isOffered(databaseId)) return null;
    const path = this.pathOf(databaseId);
    const kept = this.kept.get(databaseId);
    if (kept !== undefined && this.fits(kept, log)) return kept;
    const building = this.building.get(databaseId) ?? this.build(databaseId, path, log.schemaHash);
    this.building.set(databaseId, building);
    return building.finally(() => this.building.delete(databaseId));
  }

  /** Removes the snapshot of a database that may become another one. A download in progress continues. */
  forget(databaseId: string): void {
    const kept = this.kept.get(databaseId);
    this.kept.delete(databaseId);
    if (kept !== undefined) rmSync(kept.path, { force: true });
    this.building.get(databaseId)?.then(
      (built) => this.kept.get(databaseId) === built && this.forget(databaseId),
      () => undefined,
    );
  }

  /** Waits for the build that runs, for at most 5 s, then removes the files. The builds behind it fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.thread.finish(Promise.allSettled(this.building.values()));
    this.removeFiles();
  }

  /** Includes files of an earlier run. Other files in the directory are kept. */
  private removeFiles(): void {
    // The data directory may already be deleted when the server closes.
    if (!existsSync(this.directory)) return;
    for (const name of readdirSync(this.directory))
      if (SNAPSHOT_FILE.test(name)) rmSync(join(this.directory, name), { force: true });
  }

  private requireRunning(): void {
    if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
  }

  private fits(
    { logEpoch, watermark, schemaHash }: Snapshot & { readonly schemaHash: string },
    log: LogPosition,
  ): boolean {
    return (
      logEpoch === log.logEpoch &&
      schemaHash === log.schemaHash &&
      watermark >= log.tombstoneHorizon &&
      log.watermark - watermark <= this.rules.maxTailChangesets
    );
  }

  private async build(databaseId: string, from: string, schemaHash: string): Promise<Snapshot> {
    const path = join(this.directory, `${databaseFileName(databaseId)}.${++this.number}.gz`);
    const built = this.last.then(async () => {
      this.requireRunning();
      await this.requireIntact(databaseId);
      this.requireRunning();
      const release = holdLocks(from);
      return this.thread.run({ from, to: path }).finally(release);
    });
    this.last = built.catch(() => undefined);
    const snapshot = { ...(await built), path, schemaHash };
    const old = this.kept.get(databaseId);
    this.kept.set(databaseId, snapshot);
    // A download in progress has the file open and continues.
    if (old !== undefined) rmSync(old.path, { force: true });
    return snapshot;
  }
}

/** The file name of a snapshot, compressed and uncompressed. */
const SNAPSHOT_FILE = /^db-.+\.sqlite\.\d+\.gz(\.plain)?$/;

/** Includes the write-ahead log, which contains the rows of a database that was just filled. */
function fileBytes(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (existsSync(path + suffix) ? statSync(path + suffix).size : 0), 0);
}
