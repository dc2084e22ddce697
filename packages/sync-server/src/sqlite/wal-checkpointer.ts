import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { PageSums } from './page-sums.ts';
import { sumsOfLog } from './wal-frames.ts';

/** SQLite's own default: a log with this many frames is checkpointed. */
const CHECKPOINT_FRAMES = 1_000;

/**
 * Runs the WAL checkpoints of one open database file and keeps its page checksums right: the checksums of the pages
 * that a checkpoint will move are durable before SQLite moves the first page. SQLite's automatic checkpoints are off. A
 * kill or power cut in between leaves the pages in the log, and the next checkpoint writes their checksums again. The
 * log is synced before the checksums: a power cut that lost the log but kept the checksums would leave pages that
 * differ from them.
 */
export class WalCheckpointer {
  private readonly path: string;
  private readonly database: DatabaseSync;
  private readonly sums: PageSums;
  private readonly syncLog: (logPath: string) => void;
  /** Prepared, because it runs with every commit. */
  private readonly countFrames: StatementSync;
  private isInUse: boolean;
  /** While true, no checkpoint runs, and the log only grows. */
  isPaused = false;
  /** Called before the log is moved, because SQLite then restarts it from its beginning. */
  onCheckpoint: () => void = () => undefined;

  /** `syncLog` returns once the log is durable. */
  constructor(path: string, database: DatabaseSync, syncLog: (logPath: string) => void = syncFile) {
    this.path = path;
    this.syncLog = syncLog;
    this.database = database;
    database.exec('PRAGMA wal_autocheckpoint = 0');
    const pageSize = database.prepare('PRAGMA page_size').get() as unknown as readonly [bigint];
    this.sums = PageSums.open(path, Number(pageSize[0]));
    this.isInUse = this.sums.isLogInUse;
    this.countFrames = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  }

  /** Call after each commit, before `checkpointIfLong`. */
  onCommit(): void {
    if (this.isInUse || this.frameCount === 0) return;
    this.sums.setLogInUse(true);
    this.isInUse = true;
  }

  /** Call some time after each commit. */
  checkpointIfLong(): void {
    if (this.frameCount >= CHECKPOINT_FRAMES) this.checkpoint();
  }

  /**
   * Returns false if a reader of an older state, or another process, still needs part of the log. Throws
   * `database-damaged`, without moving a page, if the log is not what SQLite wrote.
   */
  checkpoint(): boolean {
    if (this.isPaused) return false;
    const { frameCount } = this;
    if (frameCount > 0) {
      this.onCheckpoint();
      this.syncLog(`${this.path}-wal`);
      this.sums.write(sumsOfLog(this.path, frameCount));
    }
    const [isBusy, inLog, moved] = this.pragma('PRAGMA wal_checkpoint');
    return isBusy === 0n && inLog === moved;
  }

  /** Call once SQLite has closed the database. `isEmpty` is true if the last checkpoint moved the whole log. */
  close(isEmpty: boolean): void {
    try {
      if (this.isInUse && isEmpty) this.sums.setLogInUse(false);
    } finally {
      this.sums.close();
    }
  }

  /** The number of frames of committed transactions. */
  get frameCount(): number {
    return Math.max(0, Number((this.countFrames.get() as unknown as readonly bigint[])[1]));
  }

  private pragma(sql: string): readonly bigint[] {
    return this.database.prepare(sql).get() as unknown as readonly bigint[];
  }
}

function syncFile(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r+');
  } catch (error) {
    // The files were deleted while the server ran: there is nothing to move, and closing must succeed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
