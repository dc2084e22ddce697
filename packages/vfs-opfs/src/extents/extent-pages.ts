import { EXTENT_BYTES } from '../pages/extent-pool.ts';
import { StorageError } from '../storage-error.ts';
import type { ExtentBatch, LoadedExtents } from './extent-backend.ts';
import { OpenExtent } from './open-extent.ts';
import { differences, patchBytes, type Patch } from './patch.ts';

/**
 * A commit that touched more extents than this sends them whole: it has changed too much for patches to be worth
 * looking for.
 */
const MAX_PATCHED_EXTENTS = 8;
/**
 * Patches are sent up to this much in a batch, a quarter of an extent: beyond it the extents themselves are no dearer.
 */
const MAX_PATCHES_BYTES = 16 * 1024;
/**
 * With this much in patches, the extents under them are sent whole, and the patches go: it bounds what an opening has
 * to put together.
 */
const PATCHES_KEPT_BYTES = 1024 * 1024;
/** As many as a small transaction needs. */
const MAX_SPARE_EXTENTS = MAX_PATCHED_EXTENTS;

/** What was committed at one moment. Committed extents never change, so a snapshot shares them. */
export interface ExtentSnapshot {
  readonly sizeBytes: number;
  /** How often everything had been replaced by then. */
  readonly timesReplaced: number;
  /** Returns how many bytes there were. */
  read(heap: Uint8Array, target: number, length: number, at: number): number;
}

/**
 * A whole database in memory, in extents, and over it the extents that the open transaction has changed: each is copied
 * at its first write, so that a rollback forgets them and a commit puts them in place.
 */
export class ExtentPages {
  readonly #budgetBytes: number;
  #extentBytes = EXTENT_BYTES;
  #committed = new Map<number, Uint8Array>();
  #committedSizeBytes = 0;
  readonly #open = new Map<number, OpenExtent>();
  /** Committed extents that no snapshot holds: once they are replaced, their memory serves again. */
  readonly #unshared = new Set<Uint8Array>();
  readonly #spare: Uint8Array[] = [];
  /** Committed extents from this number on are cut off in the open transaction. */
  #openCutFrom = Infinity;
  #openSizeBytes = -1;
  // What was committed since the last batch.
  readonly #unsent = new Set<number>();
  #unsentCutFrom = Infinity;
  #timesReplaced = 0;
  #snapshot: ExtentSnapshot | undefined;
  /** The same as patches; `undefined` when it is too much for them. */
  #unsentPatches: Patch[] | undefined = [];
  // What the medium has in patches, so that its extents are behind.
  readonly #patched = new Set<number>();
  #patchedBytes = 0;

  /**
   * Empty, in extents of the usual size, until `replace`. `budgetBytes` bounds the database and its open transaction
   * together.
   */
  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  get sizeBytes(): number {
    return this.#openSizeBytes === -1 ? this.#committedSizeBytes : this.#openSizeBytes;
  }

  /** Replaces everything. Throws `storage-full` when it is more than the budget. */
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

  /** The extents that only a snapshot still holds come on top of the budget. */
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

  /** Returns how many bytes there were. */
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
      // What is beyond the end must read as zeros when the database grows again.
      if (offset > 0 && this.#find(last) !== undefined) this.#own(last).clearFrom(offset);
      const firstGone = Math.ceil(sizeBytes / this.#extentBytes);
      for (const extent of this.#open.keys()) if (extent >= firstGone) this.#open.delete(extent);
      this.#openCutFrom = Math.min(this.#openCutFrom, firstGone);
    }
    this.#openSizeBytes = sizeBytes;
  }

  /** Puts the open transaction in place; returns false when it changed nothing. */
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

  /** Everything committed since the last call. */
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
      // Patched and then cut off.
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

  /** What the open transaction changes, as patches over what is committed. */
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

  /** A patch lies within one extent. */
  #apply(at: number, bytes: Uint8Array): void {
    const extent = Math.floor(at / this.#extentBytes);
    const known = this.#committed.get(extent);
    // What was loaded may be shared with whoever loaded it.
    const into =
      known !== undefined && this.#patched.has(extent) ? known : (known?.slice() ?? new Uint8Array(this.#extentBytes));
    into.set(bytes, at % this.#extentBytes);
    this.#committed.set(extent, into);
    this.#patched.add(extent);
  }

  #find(extent: number): Uint8Array | undefined {
    return this.#open.get(extent)?.bytes ?? (extent < this.#openCutFrom ? this.#committed.get(extent) : undefined);
  }

  /** The open transaction's own copy of an extent. */
  #own(extent: number): OpenExtent {
    const owned = this.#open.get(extent);
    if (owned !== undefined) return owned;
    const neededBytes = (this.#committed.size + this.#open.size + 1) * this.#extentBytes;
    if (neededBytes > this.#budgetBytes) throw overBudget(neededBytes, this.#budgetBytes);
    const copy = new OpenExtent(this.#copyOf(this.#find(extent)));
    this.#open.set(extent, copy);
    return copy;
  }

  /** Fresh memory for every small transaction is what costs, more than the copying. */
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

/** Copies `count` bytes, zeros for extents that are not there. Returns how many, which is none for a negative count. */
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
