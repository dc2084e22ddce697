import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { databaseFileName } from '../store/data-directory.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { SnapshotFacts } from './write-snapshot.ts';

/** A snapshot on disk, ready to be sent. */
export interface Snapshot extends SnapshotFacts {
  readonly path: string;
}

export interface SnapshotRules {
  /** A smaller file is not worth it: its rows come as one delivery. */
  readonly minFileBytes: number;
  /** A snapshot is given out until the log is this much further; the rest comes as the tail. */
  readonly maxTailChangesets: number;
}

/**
 * A megabyte is some 5,000 rows, which a delivery brings in a tenth of a second; a tail of 2,000 changesets as well.
 */
export const SNAPSHOT_RULES: SnapshotRules = { minFileBytes: 1024 * 1024, maxTailChangesets: 2_000 };

/** What is asked of a database's log: whether a snapshot still fits it. */
export interface LogPosition {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /** Deletes below are forgotten: a snapshot from there would keep rows that are gone. */
  readonly tombstoneHorizon: number;
  readonly schemaHash: string;
}

export interface SnapshotsOptions {
  readonly dataDir: string;
  /** The file of a database. */
  readonly pathOf: (databaseId: string) => string;
  /**
   * Rejects with `database-damaged` where pages of the file differ from their checksums: a snapshot would spread the
   * damage to every device.
   */
  readonly requireIntact: (databaseId: string) => Promise<void>;
  readonly rules: SnapshotRules;
}

/**
 * The snapshots of a server: built when they are asked for, one at a time, kept while they are of use. They are made
 * anew after a restart.
 */
export class Snapshots {
  private readonly pathOf: (databaseId: string) => string;
  private readonly requireIntact: SnapshotsOptions['requireIntact'];
  private readonly rules: SnapshotRules;
  private readonly directory: string;
  private readonly kept = new Map<string, Snapshot & { readonly schemaHash: string }>();
  private readonly building = new Map<string, Promise<Snapshot>>();
  // One build at a time: it takes a core, and the server should keep the others.
  private last: Promise<unknown> = Promise.resolve();
  private number = 0;

  constructor({ dataDir, pathOf, requireIntact, rules }: SnapshotsOptions) {
    this.pathOf = pathOf;
    this.requireIntact = requireIntact;
    this.rules = rules;
    this.directory = join(dataDir, 'snapshots');
    mkdirSync(this.directory, { recursive: true });
    this.removeFiles();
  }

  /** False: the database is too small for one. */
  isOffered(databaseId: string): boolean {
    return fileBytes(this.pathOf(databaseId)) >= this.rules.minFileBytes;
  }

  /**
   * Null: not offered. A snapshot has every row, so only a reader of everything gets one; others take their rows as a
   * delivery.
   */
  async get(databaseId: string, log: LogPosition, rows: ReadableRows): Promise<Snapshot | null> {
    if (rows !== 'everything' || !this.isOffered(databaseId)) return null;
    const path = this.pathOf(databaseId);
    const kept = this.kept.get(databaseId);
    if (kept !== undefined && this.fits(kept, log)) return kept;
    const building = this.building.get(databaseId) ?? this.build(databaseId, path, log.schemaHash);
    this.building.set(databaseId, building);
    return building.finally(() => this.building.delete(databaseId));
  }

  /** Waits for what is being built. */
  async close(): Promise<void> {
    await Promise.allSettled(this.building.values());
    this.removeFiles();
  }

  /** Those of an earlier run too. What else somebody keeps here stays. */
  private removeFiles(): void {
    // Whoever has taken the data away has nothing left that a closing server should fail about.
    if (!existsSync(this.directory)) return;
    for (const name of readdirSync(this.directory))
      if (SNAPSHOT_FILE.test(name)) rmSync(join(this.directory, name), { force: true });
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
      await this.requireIntact(databaseId);
      return runWorker(from, path);
    });
    this.last = built.catch(() => undefined);
    const snapshot = { ...(await built), path, schemaHash };
    const old = this.kept.get(databaseId);
    this.kept.set(databaseId, snapshot);
    // Whoever is downloading it has it open, and reads on.
    if (old !== undefined) rmSync(old.path, { force: true });
    return snapshot;
  }
}

/** As build names them, and the file that is not compressed yet. */
const SNAPSHOT_FILE = /^db-.+\.sqlite\.\d+\.gz(\.plain)?$/;

/** The write-ahead log counts: a database that was just filled lies there. */
function fileBytes(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (existsSync(path + suffix) ? statSync(path + suffix).size : 0), 0);
}

function runWorker(from: string, to: string): Promise<SnapshotFacts> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), { workerData: { from, to } });
    worker.once('message', (facts: SnapshotFacts) => resolve(facts));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the snapshot’s worker ended with ${code}`)));
  });
}
