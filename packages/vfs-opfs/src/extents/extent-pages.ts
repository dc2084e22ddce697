import { EXTENT_BYTES } from '../pages/extent-pool.ts';
import { StorageError } from '../storage-error.ts';
import type { ExtentBatch, LoadedExtents } from './extent-backend.ts';
import { OpenExtent } from './open-extent.ts';
import { differences, patchBytes, type Patch } from './patch.ts';

/** A commit that touched more extents than this sends whole extents; searching for patches would not pay. */
const MAX_PATCHED_EXTENTS = 8;
/** Maximum size of the patches in one batch: a quarter of an extent. Beyond it, whole extents cost no more. */
const MAX_PATCHES_BYTES = 16 * 1024;
/**
 * Maximum size of the stored patches. The batch that would exceed it replaces them with whole extents, which limits the
 * work of opening.
 */
const PATCHES_KEPT_BYTES = 1024 * 1024;
/** Maximum number of buffers that are kept for reuse: enough for a small transaction. */
const MAX_SPARE_EXTENTS = MAX_PATCHED_EXTENTS;

/** The committed state at one moment. Committed extents never change, so snapshots share them. */
export interface ExtentSnapshot {
  readonly sizeBytes: number;
  /** How often `replace` had run when the snapshot was taken. */
  readonly timesReplaced: number;
  /** Returns the number of bytes available. */
  read(heap: Uint8Array, target: number, length: number, at: number): number;
}

/**
 * A whole database in memory, in extents, with the extents that the open transaction has changed over it. Each extent
 * is copied at its first write: a rollback discards the copies, and a commit puts them in place.
 */
export class ExtentPages {
  readonly #budgetBytes: number;
  #extentBytes = EXTENT_BYTES;
  #committed = new Map<number, Uint8Array>();
  #committedSizeBytes = 0;
  readonly #open = new Map<number, OpenExtent>();
  /** Committed extents that no snapshot holds. Their memory is reused once they are replaced. */
  readonly #unshared = new Set<Uint8Array>();
  readonly #spare: Uint8Array[] = [];
  /** The open transaction truncates the committed extents from this number on. */
  #openCutFrom = Infinity;
  #openSizeBytes = -1;
  // The extents committed since the last batch.
  readonly #unsent = new Set<number>();
  #unsentCutFrom = Infinity;
  #timesReplaced = 0;
  #snapshot: ExtentSnapshot | undefined;
  /** The unsent commits as patches; `undefined` when they are too large for patches. */
  #unsentPatches: Patch[] | undefined = [];
  // Extents with stored patches: the stored extents are out of date.
  readonly #patched = new Set<number>();
  #patchedBytes = 0;

  /**
   * Starts empty, with extents of the default size, until `replace`. `budgetBytes` limits the database and its open
   * transaction together.
   */
  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  get sizeBytes(): number {
    return this.#openSizeBytes === -1 ? this.#committedSizeBytes : this.#openSizeBytes;
  }

  /** Replaces the whole content. Throws `storage-full` when it exceeds the budget. */
  replace(loaded: LoadedExtents): void {
    const neededBytes = loaded.extents.size * loaded.extentBytes;
    if (neededBytes > this.#budgetBytes) throw overBudget(neededBytes, this.#budgetBytes);
    this.rollback();
    if (this.#extentBytes !== loaded.extentBytes) this.#spare.length = 0;
    this.#extentBytes = loaded.extentBytes;
    this.#unsent.clear();
    this.#unsentCutFrom = Infinity;
    this.#unsentPatches = [];
    this.#committed = new Map();
    this.#unshared.clear();
    for (const [extent, bytes] of loaded.extents)
      this.#committed.set(extent, bytes.length === this.#extentBytes ? bytes : padded(bytes, this.#extentBytes));
    this.#patched.clear();
    for (const { at, bytes } of loaded.patches) this.#apply(at, bytes);
    this.#patchedBytes = patchBytes(loaded.patches);
    this.#committedSizeBytes = loaded.sizeBytes;
    this.#timesReplaced += 1;
    this.#snapshot = undefined;
  }

  /** Extents that only a snapshot still holds are not counted in the budget. */
  snapshot(): ExtentSnapshot {
    if (this.#snapshot !== undefined) return this.#snapshot;
    this.#unshared.clear();
    const [extents, sizeBytes, extentBytes] = [new Map(this.#committed), this.#committedSizeBytes, this.#extentBytes];
    this.#snapshot = {
      sizeBytes,
      timesReplaced: this.#timesReplaced,
      read: (heap, target, length, at) =>
        copyOut((extent) => extents.get(extent), extentBytes, heap, target, Math.min(length, sizeBytes - at), at),
    };
    return this.#snapshot;
  }

  /** Returns the number of bytes available. */
  read(heap: Uint8Array, target: number, length: number, at: number): number {
    return copyOut(
      (extent) => this.#find(extent),
      this.#extentBytes,
      heap,
      target,
      Math.min(length, this.sizeBytes - at),
      at,
    );
  }

  write(heap: Uint8Array, source: number, length: number, at: number): void {
    for (let done = 0; done < length;) {
      const offset = (at + done) % this.#extentBytes;
      const part = Math.min(length - done, this.#extentBytes - offset);
      this.#own(Math.floor((at + done) / this.#extentBytes)).write(heap, source + done, part, offset);
      done += part;
    }
    this.#openSizeBytes = Math.max(this.sizeBytes, at + length);
  }

  truncate(sizeBytes: number): void {
    if (sizeBytes < this.sizeBytes) {
      const offset = sizeBytes % this.#extentBytes;
      const last = Math.floor(sizeBytes / this.#extentBytes);
      // Bytes beyond the end must read as zeros when the database grows again.
      if (offset > 0 && this.#find(last) !== undefined) this.#own(last).clearFrom(offset);
      const firstGone = Math.ceil(sizeBytes / this.#extentBytes);
      for (const extent of this.#open.keys()) if (extent >= firstGone) this.#open.delete(extent);
      this.#openCutFrom = Math.min(this.#openCutFrom, firstGone);
    }
    this.#openSizeBytes = sizeBytes;
  }

  /** Puts the open transaction in place. Returns false when it changed nothing. */
  commit(): boolean {
    if (this.#openSizeBytes === -1) return false;
    this.#addPatches();
    if (this.#openCutFrom !== Infinity) {
      for (const extent of this.#committed.keys()) if (extent >= this.#openCutFrom) this.#committed.delete(extent);
      for (const extent of this.#unsent) if (extent >= this.#openCutFrom) this.#unsent.delete(extent);
      this.#unsentCutFrom = Math.min(this.#unsentCutFrom, this.#openCutFrom);
    }
    for (const [extent, { bytes }] of this.#open) {
      const replaced = this.#committed.get(extent);
      if (replaced !== undefined && this.#unshared.delete(replaced)) this.#recycle(replaced);
      this.#committed.set(extent, bytes);
      this.#unshared.add(bytes);
      this.#unsent.add(extent);
    }
    this.#committedSizeBytes = this.#openSizeBytes;
    this.#snapshot = undefined;
    this.#endTransaction();
    return true;
  }

  rollback(): void {
    for (const { bytes } of this.#open.values()) this.#recycle(bytes);
    this.#endTransaction();
  }

  #endTransaction(): void {
    this.#open.clear();
    this.#openCutFrom = Infinity;
    this.#openSizeBytes = -1;
  }

  /** Takes everything committed since the last call. */
  takeBatch(): ExtentBatch {
    const patches = this.#unsentPatches;
    const batch =
      patches === undefined || this.#patchedBytes + patchBytes(patches) > PATCHES_KEPT_BYTES
        ? this.#wholeExtents()
        : this.#onlyPatches(patches);
    this.#unsent.clear();
    this.#unsentCutFrom = Infinity;
    this.#unsentPatches = [];
    return batch;
  }

  #onlyPatches(patches: readonly Patch[]): ExtentBatch {
    for (const extent of this.#unsent) this.#patched.add(extent);
    this.#patchedBytes += patchBytes(patches);
    return {
      sizeBytes: this.#committedSizeBytes,
      extentBytes: this.#extentBytes,
      dropsPatches: false,
      cutFrom: Infinity,
      extents: new Map(),
      patches,
    };
  }

  #wholeExtents(): ExtentBatch {
    const extents = new Map<number, Uint8Array>();
    for (const extent of [...this.#unsent, ...this.#patched]) {
      const bytes = this.#committed.get(extent);
      // Skips an extent that was patched and then truncated.
      if (bytes === undefined) continue;
      extents.set(
        extent,
        bytes.subarray(0, Math.min(this.#extentBytes, this.#committedSizeBytes - extent * this.#extentBytes)),
      );
    }
    const dropsPatches = this.#patched.size > 0;
    this.#patched.clear();
    this.#patchedBytes = 0;
    return {
      sizeBytes: this.#committedSizeBytes,
      extentBytes: this.#extentBytes,
      dropsPatches,
      cutFrom: this.#unsentCutFrom,
      extents,
      patches: [],
    };
  }

  /** Adds the changes of the open transaction as patches over the committed extents. */
  #addPatches(): void {
    const patches = this.#unsentPatches;
    if (patches === undefined) return;
    const isTooMuch = this.#openCutFrom !== Infinity || this.#open.size > MAX_PATCHED_EXTENTS;
    if (!isTooMuch) {
      for (const [extent, { bytes, written }] of this.#open) {
        const older = this.#committed.get(extent) ?? new Uint8Array(this.#extentBytes);
        patches.push(...differences(older, bytes, extent * this.#extentBytes, written));
      }
    }
    if (isTooMuch || patchBytes(patches) > MAX_PATCHES_BYTES) this.#unsentPatches = undefined;
  }

  /** Applies a patch, which never crosses an extent boundary. */
  #apply(at: number, bytes: Uint8Array): void {
    const extent = Math.floor(at / this.#extentBytes);
    const known = this.#committed.get(extent);
    // The caller of `replace` may still use the loaded extents, so the first patch copies.
    const into =
      known !== undefined && this.#patched.has(extent) ? known : (known?.slice() ?? new Uint8Array(this.#extentBytes));
    into.set(bytes, at % this.#extentBytes);
    this.#committed.set(extent, into);
    this.#patched.add(extent);
  }

  #find(extent: number): Uint8Array | undefined {
    return this.#open.get(extent)?.bytes ?? (extent < this.#openCutFrom ? this.#committed.get(extent) : undefined);
  }

  /** Returns the open transaction's copy of an extent, making it first if needed. */
  #own(extent: number): OpenExtent {
    const owned = this.#open.get(extent);
    if (owned !== undefined) return owned;
    const neededBytes = (this.#committed.size + this.#open.size + 1) * this.#extentBytes;
    if (neededBytes > this.#budgetBytes) throw overBudget(neededBytes, this.#budgetBytes);
    const copy = new OpenExtent(this.#copyOf(this.#find(extent)));
    this.#open.set(extent, copy);
    return copy;
  }

  /** Reuses memory: for small transactions, allocating costs more than copying. */
  #copyOf(bytes: Uint8Array | undefined): Uint8Array {
    const spare = this.#spare.pop();
    if (spare === undefined) return bytes?.slice() ?? new Uint8Array(this.#extentBytes);
    if (bytes === undefined) spare.fill(0);
    else spare.set(bytes);
    return spare;
  }

  #recycle(bytes: Uint8Array): void {
    if (this.#spare.length < MAX_SPARE_EXTENTS) this.#spare.push(bytes);
  }
}

/** Copies `count` bytes; missing extents read as zeros. Returns the number of bytes, 0 for a negative count. */
function copyOut(
  find: (extent: number) => Uint8Array | undefined,
  extentBytes: number,
  heap: Uint8Array,
  target: number,
  count: number,
  at: number,
): number {
  for (let done = 0; done < count;) {
    const offset = (at + done) % extentBytes;
    const part = Math.min(count - done, extentBytes - offset);
    const bytes = find(Math.floor((at + done) / extentBytes));
    if (bytes === undefined) heap.fill(0, target + done, target + done + part);
    else heap.set(bytes.subarray(offset, offset + part), target + done);
    done += part;
  }
  return Math.max(0, count);
}

function padded(bytes: Uint8Array, extentBytes: number): Uint8Array {
  const whole = new Uint8Array(extentBytes);
  whole.set(bytes);
  return whole;
}

function overBudget(neededBytes: number, budgetBytes: number): StorageError {
  return new StorageError('storage-full', { limit: 'memory', neededBytes, budgetBytes });
}
