import type { ExtentBackend, ExtentBatch, ExtentCatalog } from '../src/extents/extent-backend.ts';
import { extentMedium } from '../src/extents/extent-medium.ts';
import { decodePatches, encodePatches, type Patch } from '../src/extents/patch.ts';
import { InProcessLocks } from '../src/locks/in-process-locks.ts';
import type { Persistence, StoreMedium } from '../src/media/medium.ts';
import { EXTENT_BYTES } from '../src/pages/extent-pool.ts';
import type { Random } from './torn-write.ts';

interface Stored {
  sizeBytes: number;
  extentBytes: number;
  extents: Map<number, Uint8Array>;
  patches: readonly Patch[];
}

/** The outcome of a pending batch. */
export type BatchOutcome = 'completes' | 'aborts' | 'never-ends';

export interface SimulatedExtentsOptions {
  /** Default `memory`. */
  readonly persistence?: Persistence;
  /** How long a batch is pending, in ms. Default 0. */
  readonly pendingMs?: () => number;
  /** Whether the pending batch of a dying worker takes effect. Default: it never does. */
  readonly outlivesWorker?: () => boolean;
  /** Records what a power cut could undo, for `losePower`. Default false. */
  readonly canLosePower?: boolean;
  /** The medium starts with the databases of this medium. */
  readonly copyOf?: SimulatedExtents;
}

/** One worker on the medium. */
export interface SimulatedExtentMedium extends StoreMedium {
  /** Ends the worker: its locks are freed, and its pending batch takes effect completely or not at all. */
  kill(): void;
}

/** The batches of one worker that have not taken effect. */
interface Life {
  isAlive: boolean;
  readonly pending: Set<() => void>;
}

/**
 * A medium that takes whole batches asynchronously, as IndexedDB does. Tests can stage aborts, deaths and power cuts.
 */
export class SimulatedExtents implements ExtentCatalog {
  /** Called for every batch before it takes effect. */
  outcome: (batch: ExtentBatch) => BatchOutcome = () => 'completes';
  /** Number of extents in each batch. */
  readonly batches: number[] = [];
  /** The outcome of each batch, without the pending one. */
  readonly outcomes: BatchOutcome[] = [];
  /** The free space that the medium reports. */
  freeBytes: number | undefined;
  readonly #options: SimulatedExtentsOptions;
  readonly #stored = new Map<string, Stored>();
  readonly #locks = new InProcessLocks();
  readonly #lives: Life[] = [];
  /** The states before the batches that were not flushed, oldest first. */
  readonly #unflushed: { readonly stored: Stored; readonly before: Stored }[] = [];

  constructor(options: SimulatedExtentsOptions = {}) {
    this.#options = options;
    const original = options.copyOf === undefined ? [] : options.copyOf.#stored;
    for (const [name, stored] of original) this.#stored.set(name, copyOf(stored));
  }

  /** Adds a worker. */
  medium(budgetBytes: number = 64 * 1024 * 1024): SimulatedExtentMedium {
    const owner = this.#locks.owner();
    const life: Life = { isAlive: true, pending: new Set() };
    this.#lives.push(life);
    const place: ExtentCatalog = {
      open: async (name, isStrict) => this.#backend(this.#openStored(name), life, isStrict),
      exists: (name) => this.exists(name),
      sizeBytes: (name) => this.sizeBytes(name),
      remove: (name) => this.remove(name),
      list: () => this.list(),
    };
    const medium = extentMedium({
      kind: 'simulated-extents',
      persistence: this.#options.persistence ?? 'memory',
      catalog: place,
      locks: owner,
      budgetBytes,
      missing: async () => [],
      freeBytes: async () => this.freeBytes,
    });
    const kill = (): void => {
      life.isAlive = false;
      for (const apply of life.pending) if (this.#options.outlivesWorker?.() === true) apply();
      life.pending.clear();
      owner.die();
    };
    return { ...medium, kill };
  }

  /** Whether a batch of any worker has not taken effect yet. */
  get hasPending(): boolean {
    return this.#lives.some(({ pending }) => pending.size > 0);
  }

  async open(name: string, isStrict: boolean): Promise<ExtentBackend> {
    return this.#backend(this.#openStored(name), { isAlive: true, pending: new Set() }, isStrict);
  }

  async exists(name: string): Promise<boolean> {
    return this.#stored.has(name);
  }

  async sizeBytes(name: string): Promise<number> {
    return this.#openStored(name).sizeBytes;
  }

  async remove(name: string): Promise<void> {
    this.#stored.delete(name);
  }

  async list(): Promise<readonly string[]> {
    return [...this.#stored.keys()];
  }

  /**
   * Cuts the power, after all workers have died: a random number of the last unflushed batches is lost. Returns that
   * number. A strict batch flushes all batches before it.
   */
  losePower(random: Random): number {
    const lost = Math.floor(random() * (this.#unflushed.length + 1));
    for (const { stored, before } of this.#unflushed.splice(this.#unflushed.length - lost).toReversed())
      Object.assign(stored, before);
    this.#unflushed.length = 0;
    return lost;
  }

  #openStored(name: string): Stored {
    const stored = this.#stored.get(name) ?? {
      sizeBytes: 0,
      extentBytes: EXTENT_BYTES,
      extents: new Map<number, Uint8Array>(),
      patches: [],
    };
    this.#stored.set(name, stored);
    return stored;
  }

  #backend(stored: Stored, life: Life, isStrict: boolean): ExtentBackend {
    return {
      load: async () => {
        if (!life.isAlive) return new Promise<never>(() => undefined);
        const { sizeBytes, extentBytes, extents, patches } = copyOf(stored);
        return { sizeBytes, extentBytes, extents, patches };
      },
      write: async (batch) => {
        if (!life.isAlive) return new Promise<never>(() => undefined);
        const copied: ExtentBatch = {
          ...batch,
          extents: new Map([...batch.extents].map(([extent, bytes]) => [extent, bytes.slice()])),
          patches: decodePatches(encodePatches(batch.patches)),
        };
        this.batches.push(copied.extents.size);
        const outcome = this.outcome(batch);
        const apply = (): void => this.#apply(stored, copied, isStrict);
        if (outcome === 'completes') this.#handOver(apply, life);
        await new Promise((resolve) => setTimeout(resolve, this.#options.pendingMs?.() ?? 0));
        this.outcomes.push(outcome);
        if (!life.isAlive || outcome === 'never-ends') return new Promise<void>(() => undefined);
        if (outcome === 'aborts') throw new DOMException('', 'QuotaExceededError');
        life.pending.delete(apply);
        apply();
      },
      close: () => undefined,
    };
  }

  #handOver(apply: () => void, life: Life): void {
    if (life.isAlive) life.pending.add(apply);
    else if (this.#options.outlivesWorker?.() === true) apply();
  }

  #apply(stored: Stored, batch: ExtentBatch, isStrict: boolean): void {
    if (isStrict) this.#unflushed.length = 0;
    else if (this.#options.canLosePower === true) {
      this.#unflushed.push({ stored, before: { ...stored, extents: new Map(stored.extents) } });
      if (this.#unflushed.length > MAX_UNFLUSHED_BATCHES) this.#unflushed.shift();
    }
    stored.patches = [...(batch.dropsPatches ? [] : stored.patches), ...batch.patches];
    for (const extent of stored.extents.keys()) if (extent >= batch.cutFrom) stored.extents.delete(extent);
    for (const [extent, bytes] of batch.extents) stored.extents.set(extent, bytes);
    stored.sizeBytes = batch.sizeBytes;
    stored.extentBytes = batch.extentBytes;
  }
}

/** The maximum number of transactions that a browser may still hold in memory. */
const MAX_UNFLUSHED_BATCHES = 20;

function copyOf({ extents, ...rest }: Stored): Stored {
  return { ...rest, extents: new Map([...extents].map(([extent, bytes]) => [extent, bytes.slice()])) };
}
