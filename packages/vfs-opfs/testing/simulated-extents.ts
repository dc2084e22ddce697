import type { ExtentBackend, ExtentBatch, ExtentCatalog } from '../src/extents/extent-backend.ts';
import { extentMedium } from '../src/extents/extent-medium.ts';
import { decodePatches, encodePatches, type Patch } from '../src/extents/patch.ts';
import { InProcessLocks } from '../src/locks/in-process-locks.ts';
import type { StoreMedium } from '../src/media/medium.ts';
import { EXTENT_BYTES } from '../src/pages/extent-pool.ts';

interface Stored {
  sizeBytes: number;
  extentBytes: number;
  readonly extents: Map<number, Uint8Array>;
  patches: readonly Patch[];
}

/** The outcome of a pending batch. */
export type BatchOutcome = 'completes' | 'aborts' | 'never-ends';

/** A medium that takes whole batches asynchronously, as IndexedDB does. Tests can stage aborts and deaths. */
export class SimulatedExtents implements ExtentCatalog {
  /** Called for every batch before it takes effect. */
  outcome: (batch: ExtentBatch) => BatchOutcome = () => 'completes';
  /** Number of extents in each batch so far. */
  readonly batches: number[] = [];
  /** The outcome of each batch so far, without the pending one. */
  readonly outcomes: BatchOutcome[] = [];
  /** The free space that the medium reports. */
  freeBytes: number | undefined;
  readonly #stored = new Map<string, Stored>();
  readonly #locks = new InProcessLocks();

  /** Adds a worker. `kill` ends it: its locks are freed, and its later batches have no effect. */
  medium(budgetBytes: number = 64 * 1024 * 1024): StoreMedium & { kill(): void } {
    const owner = this.#locks.owner();
    const life = { isAlive: true };
    const place: ExtentCatalog = {
      open: async (name) => this.#backend(this.#openStored(name), life),
      exists: (name) => this.exists(name),
      sizeBytes: (name) => this.sizeBytes(name),
      remove: (name) => this.remove(name),
      list: () => this.list(),
    };
    const medium = extentMedium({
      kind: 'simulated-extents',
      persistence: 'memory',
      catalog: place,
      locks: owner,
      budgetBytes,
      missing: async () => [],
      freeBytes: async () => this.freeBytes,
    });
    const kill = (): void => {
      life.isAlive = false;
      owner.die();
    };
    return { ...medium, kill };
  }

  async open(name: string): Promise<ExtentBackend> {
    return this.#backend(this.#openStored(name), { isAlive: true });
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

  #backend(stored: Stored, life: { readonly isAlive: boolean }): ExtentBackend {
    return {
      load: async () => ({
        sizeBytes: stored.sizeBytes,
        extentBytes: stored.extentBytes,
        extents: new Map([...stored.extents].map(([extent, bytes]) => [extent, bytes.slice()])),
        patches: stored.patches,
      }),
      write: async (batch) => {
        const copied = new Map([...batch.extents].map(([extent, bytes]) => [extent, bytes.slice()]));
        const encodedPatches = encodePatches(batch.patches);
        this.batches.push(copied.size);
        const outcome = this.outcome(batch);
        await new Promise((resolve) => setTimeout(resolve, 0));
        this.outcomes.push(outcome);
        if (!life.isAlive || outcome === 'never-ends') return new Promise<void>(() => undefined);
        if (outcome === 'aborts') throw new DOMException('', 'QuotaExceededError');
        stored.patches = [...(batch.dropsPatches ? [] : stored.patches), ...decodePatches(encodedPatches)];
        for (const extent of stored.extents.keys()) if (extent >= batch.cutFrom) stored.extents.delete(extent);
        for (const [extent, bytes] of copied) stored.extents.set(extent, bytes);
        stored.sizeBytes = batch.sizeBytes;
        stored.extentBytes = batch.extentBytes;
      },
      close: () => undefined,
    };
  }
}
