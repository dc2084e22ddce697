import { advanceSignalName } from '../locks/storage-signals.ts';
import type { StorageSignals } from '../locks/storage-signals.ts';
import { snapshotLockName } from '../locks/storage-locks.ts';
import type { StorageLocks } from '../locks/storage-locks.ts';
import type { PageView } from '../pages/page-view.ts';
import type { Tuning } from '../tuning.ts';
import type { LogWriter } from './log-writer.ts';
import { copyIntoDatabase } from './wal-checkpoint.ts';

/** Copying pauses after this time, so that a writer that also serves requests is never busy for 50 ms. */
const MAX_SLICE_MS = 20;
/** A reader moves on within a millisecond of the signal; one in a long read transaction needs few reminders. */
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 100;
/** How long a background WAL checkpoint waits for readers before it lets the log grow and tries again later. */
const BACKGROUND_WAIT_MS = 1000;

/** The parts of a storage that log maintenance uses. */
export interface LogMaintenanceContext {
  readonly storageName: string;
  readonly locks: StorageLocks;
  readonly signals: StorageSignals;
  readonly view: PageView;
  readonly log: LogWriter;
  readonly tuning: Tuning;
  /** Receives failures of background work, which has no caller to throw to. */
  readonly onError: (error: unknown) => void;
}

/** Keeps the writer's log short and flushed: seals a full segment, runs WAL checkpoints, and flushes in time. */
export class LogMaintenance {
  readonly #context: LogMaintenanceContext;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #shortenTimer: ReturnType<typeof setTimeout> | undefined;
  #dirtySinceMs: number | undefined;
  #running: Promise<boolean> = Promise.resolve(true);
  #isInBackground = false;
  #isClosed = false;
  /** WAL checkpoints that callers requested and that have not ended. */
  #requestedCheckpoints = 0;
  #endPause: () => void = () => undefined;

  constructor(context: LogMaintenanceContext) {
    this.#context = context;
  }

  /**
   * Time of the oldest commit that is not flushed, in milliseconds since 1970; `undefined` when all are flushed.
   * Recovered commits count from the opening.
   */
  get dirtySinceMs(): number | undefined {
    return this.#dirtySinceMs;
  }

  /**
   * Schedules the flush of recovered commits, whose writer may have died before it flushed them. Schedules a WAL
   * checkpoint for a long log; otherwise every further opening would read it again, even if nothing is written. The
   * delay lets the opening tab do its own work first.
   */
  onRecovered(): void {
    const { view, tuning } = this.#context;
    if (view.active.lastRecordAt === 0 && view.sealed === undefined) return;
    this.#becomeDirty();
    if ((!this.#isLong && view.sealed === undefined) || tuning.flushWithinMs === Infinity) return;
    this.#shortenTimer = setTimeout(() => this.#shorten(), tuning.flushWithinMs);
  }

  onCommit(): void {
    if (!this.#context.log.isDirty) this.#dirtySinceMs = undefined;
    else if (this.#dirtySinceMs === undefined) this.#becomeDirty();
    if (this.#isLong) this.#shorten();
  }

  flush(): void {
    // This comes first: if it fails, the timer stays set and tries again.
    this.#context.log.flush();
    clearTimeout(this.#flushTimer);
    this.#dirtySinceMs = undefined;
  }

  /** Resolves to false when readers still needed an old snapshot after `waitMs`. */
  checkpoint(waitMs: number): Promise<boolean> {
    this.#requestedCheckpoints += 1;
    this.#endPause();
    const next = this.#running
      .catch(() => false)
      .then(() => this.#checkpointAll(waitMs))
      .finally(() => {
        this.#requestedCheckpoints -= 1;
      });
    this.#running = next;
    return next;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPause();
    clearTimeout(this.#flushTimer);
    clearTimeout(this.#shortenTimer);
    await this.#running.catch(() => undefined);
  }

  get #isLong(): boolean {
    return this.#context.view.active.end >= this.#context.tuning.checkpointAfterBytes;
  }

  #shorten(): void {
    try {
      if (this.#isLong && this.#context.view.sealed === undefined) this.#swapSegments();
    } catch (error) {
      // The commit is complete; the log continues in its current segment.
      this.#context.onError(error);
    }
    if (!this.#isInBackground) this.#checkpointInBackground();
  }

  #becomeDirty(): void {
    this.#dirtySinceMs = Date.now();
    this.#flushLater();
  }

  #flushLater(): void {
    const { flushWithinMs } = this.#context.tuning;
    if (flushWithinMs === Infinity || this.#isClosed) return;
    this.#flushTimer = setTimeout(() => {
      try {
        this.flush();
      } catch (error) {
        this.#context.onError(error);
        this.#flushLater();
      }
    }, flushWithinMs);
  }

  #checkpointInBackground(): void {
    this.#isInBackground = true;
    this.#running = this.#running
      .catch(() => undefined)
      .then(() => this.#copyUntilShort())
      .catch((error: unknown) => {
        this.#context.onError(error);
        return false;
      })
      .finally(() => {
        this.#isInBackground = false;
      });
  }

  /** Repeats, because the next generation may have grown as long during the copy. */
  async #copyUntilShort(): Promise<boolean> {
    while (await this.#copySealed(BACKGROUND_WAIT_MS, true)) {
      if (!this.#isLong || this.#isClosed || this.#requestedCheckpoints > 0) return true;
      this.#swapSegments();
    }
    return false;
  }

  async #checkpointAll(waitMs: number): Promise<boolean> {
    const { view } = this.#context;
    if (!(await this.#copySealed(waitMs, false))) return false;
    if (view.active.lastRecordAt === 0) return true;
    this.#swapSegments();
    return this.#copySealed(waitMs, false);
  }

  /** Ends the active generation and begins the next one in the other, free segment. */
  #swapSegments(): void {
    const { view, log, tuning } = this.#context;
    const ended = view.active;
    const begun = log.begin({
      generation: ended.number + 1,
      salt: crypto.getRandomValues(new Int32Array(1))[0]!,
      baseTransactionId: ended.lastTransactionId,
      baseChecksum: ended.lastChecksum,
      baseSizeBytes: ended.sizeBytes,
      isFirst: false,
    });
    // Before the new header was written, a reader could still be reading old records of the segment.
    log.shrink(begun.segment, 2 * tuning.checkpointAfterBytes);
    // The seal comes last, so that a reader that sees it finds the next generation in place.
    log.markSealed(ended);
    view.sealed = ended;
    view.active = begun;
  }

  async #copySealed(waitMs: number, isBackground: boolean): Promise<boolean> {
    const { view, log, tuning } = this.#context;
    const sealed = view.sealed;
    if (sealed === undefined) return true;
    const release = await this.#waitForReaders(sealed.number, waitMs, isBackground);
    // Once the log has reached its limit, limiting it matters more than a reader that does not respond. That reader
    // detects the copy and reads again (log-follower.ts).
    if (release === undefined && (waitMs === 0 || view.active.end < tuning.logLimitBytes)) return false;
    try {
      let sliceStart = performance.now();
      for (const _ of copyIntoDatabase(view.files, log, sealed, view.pageSizeBytes)) {
        if (performance.now() - sliceStart < MAX_SLICE_MS) continue;
        await new Promise((resolve) => setTimeout(resolve, 0));
        sliceStart = performance.now();
      }
      view.sealed = undefined;
      return true;
    } finally {
      release?.();
    }
  }

  /**
   * Takes the generation's lock as soon as no reader's snapshot ends in it. Returns `undefined` after `waitMs`, on
   * closing, and, in the background, as soon as a caller requests a WAL checkpoint, which must not wait for it.
   */
  async #waitForReaders(generation: number, waitMs: number, isBackground: boolean): Promise<(() => void) | undefined> {
    const { locks, signals, storageName } = this.#context;
    const name = snapshotLockName(storageName, generation);
    const deadline = performance.now() + waitMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const release = await locks.request(name, 'exclusive', 0);
      const leftMs = deadline - performance.now();
      if (release !== undefined || leftMs <= 0 || this.#isClosed || (isBackground && this.#requestedCheckpoints > 0))
        return release;
      // A signal may be lost, so each round sends one.
      signals.post(advanceSignalName(storageName));
      await this.#pause(Math.min(pauseMs, leftMs));
    }
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
