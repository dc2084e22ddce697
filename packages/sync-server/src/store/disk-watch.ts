import type { Readiness, Store } from './store.ts';

const INTERVAL_MS = 2_000;

/**
 * How much of a full disk's reserve changesets that are not deletes may take. A site's changesets are decided in order,
 * so a delete that frees space may wait behind them.
 */
const RESERVE_BYTES = 4 * 1024 * 1024;

/** A store that does not respond within this time counts as unavailable, so that a probe does not wait for it. */
const ANSWER_DEADLINE_MS = 3_000;

/** Tells probes whether the store can commit, and admission whether only the reserve of the disk is left. */
export class DiskWatch {
  private readonly store: Pick<Store, 'readiness'>;
  private readonly timer: NodeJS.Timeout;
  private isFull = false;
  private isStoreReady = true;
  private reserveBytes = RESERVE_BYTES;
  private asking: Promise<Readiness> | null = null;

  constructor(store: Pick<Store, 'readiness'>) {
    this.store = store;
    this.timer = setInterval(() => void this.readiness(), INTERVAL_MS);
    this.timer.unref();
  }

  get isDiskFull(): boolean {
    return this.isFull;
  }

  /** Whether the store could commit when it was last asked. */
  get isReady(): boolean {
    return this.isStoreReady;
  }

  /**
   * Takes bytes from the reserve of a full disk for changesets that must be stored before a delete. Returns whether
   * enough was left.
   */
  takeReserve(bytes: number): boolean {
    if (bytes > this.reserveBytes) return false;
    this.reserveBytes -= bytes;
    return true;
  }

  /**
   * Resolves with `unavailable` if the store does not respond within 3 s. Calls share an answer, because each one may
   * take a connection to PostgreSQL.
   */
  readiness(): Promise<Readiness> {
    this.asking ??= this.ask()
      .then((readiness) => {
        this.isStoreReady = readiness === 'ready';
        return readiness;
      })
      .finally(() => (this.asking = null));
    return this.asking;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async ask(): Promise<Readiness> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Readiness>((resolve) => {
      timer = setTimeout(() => resolve('unavailable'), ANSWER_DEADLINE_MS);
    });
    try {
      const readiness = await Promise.race([this.store.readiness(), late]);
      this.isFull = readiness === 'disk-full';
      if (!this.isFull) this.reserveBytes = RESERVE_BYTES;
      return readiness;
    } catch {
      return 'unavailable';
    } finally {
      clearTimeout(timer);
    }
  }
}
