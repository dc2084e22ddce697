import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { writeMissingSums } from './accept-file.ts';
import { databaseIds, databasePath } from './data-directory.ts';
import { verifyPages } from './verify-pages.ts';

/** How fast files are compared with their checksums, in ms. */
export interface ScrubTimes {
  /** Pause between two slices of 1 MiB: 50 ms limits reads to 20 MiB a second. */
  readonly sliceIntervalMs: number;
  /** Pause between two passes over all databases. */
  readonly passIntervalMs: number;
}

export const SCRUB_TIMES: ScrubTimes = { sliceIntervalMs: 50, passIntervalMs: 60 * 60_000 };

/** Above this utilization of the event loop, the scrub waits. */
const BUSY_UTILIZATION = 0.5;

/**
 * Limits the number of waits per slice, so that a server that is never idle is still scrubbed, at a hundredth of the
 * pace.
 */
const MOST_BUSY_WAITS = 100;

/** The longest time of a timer: with a longer one, it would fire at once, and the scrub would never pause. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface ScrubberOptions {
  readonly dataDir: string;
  /** Whether to check a database. Default: checks all. */
  readonly owns?: (databaseId: string) => boolean;
  readonly onDamaged: (databaseId: string, damagedPages: number) => void;
  /** `databaseId` is null if the databases cannot be listed. */
  readonly onFailure: (databaseId: string | null, error: unknown) => void;
  readonly times?: ScrubTimes;
}

/**
 * Compares the pages of all databases in a data directory, open or not, with their checksums: slowly, repeatedly, and
 * while the server is mostly idle.
 */
export class Scrubber {
  private readonly options: ScrubberOptions;
  private readonly stopped = new AbortController();
  private readonly running: Promise<void>;

  constructor(options: ScrubberOptions) {
    this.options = options;
    this.running = this.run().catch(() => undefined);
  }

  /** Resolves when it has stopped. */
  close(): Promise<void> {
    this.stopped.abort();
    return this.running;
  }

  private async run(): Promise<void> {
    const { times: { passIntervalMs } = SCRUB_TIMES, onFailure } = this.options;
    for (;;) {
      await this.wait(passIntervalMs);
      try {
        await this.pass();
      } catch (error) {
        this.stopped.signal.throwIfAborted();
        onFailure(null, error);
      }
    }
  }

  /** Checks every database once. */
  async pass(): Promise<void> {
    const { dataDir, owns = () => true, onDamaged, onFailure } = this.options;
    for (const databaseId of databaseIds(dataDir).filter(owns)) {
      try {
        const path = databasePath(dataDir, databaseId);
        const { damaged, unknown } = await verifyPages(path, {
          pause: () => this.pause(),
          signal: this.stopped.signal,
        });
        if (damaged.length > 0) onDamaged(databaseId, damaged.length);
        else if (unknown > 0) writeMissingSums(path);
      } catch (error) {
        this.stopped.signal.throwIfAborted();
        onFailure(databaseId, error);
      }
    }
  }

  private async pause(): Promise<void> {
    const { sliceIntervalMs } = this.options.times ?? SCRUB_TIMES;
    for (let waits = 0; waits < MOST_BUSY_WAITS; waits++) {
      const before = performance.eventLoopUtilization();
      await this.wait(sliceIntervalMs);
      if (performance.eventLoopUtilization(before).utilization < BUSY_UTILIZATION) return;
    }
  }

  private async wait(ms: number): Promise<void> {
    let leftMs = ms;
    do {
      await delay(Math.min(leftMs, MAX_TIMER_MS), undefined, { ref: false, signal: this.stopped.signal });
      leftMs -= MAX_TIMER_MS;
    } while (leftMs > 0);
  }
}
