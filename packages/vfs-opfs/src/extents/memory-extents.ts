import type { ExtentBackend, ExtentBatch, LoadedExtents } from './extent-backend.ts';
import type { Patch } from './patch.ts';

/** A backend that stores nothing, for the content of an import while it is checked. */
export class MemoryExtents implements ExtentBackend {
  readonly #extents: Map<number, Uint8Array>;
  #patches: readonly Patch[];
  #sizeBytes: number;
  readonly #extentBytes: number;

  constructor(loaded: LoadedExtents) {
    this.#extents = loaded.extents;
    this.#patches = loaded.patches;
    this.#sizeBytes = loaded.sizeBytes;
    this.#extentBytes = loaded.extentBytes;
  }

  async load(): Promise<LoadedExtents> {
    return {
      sizeBytes: this.#sizeBytes,
      extentBytes: this.#extentBytes,
      extents: this.#extents,
      patches: this.#patches,
    };
  }

  async write(batch: ExtentBatch): Promise<void> {
    this.#patches = [...(batch.dropsPatches ? [] : this.#patches), ...batch.patches];
    for (const extent of this.#extents.keys()) if (extent >= batch.cutFrom) this.#extents.delete(extent);
    for (const [extent, bytes] of batch.extents) this.#extents.set(extent, bytes.slice());
    this.#sizeBytes = batch.sizeBytes;
  }

  close(): void {}
}
