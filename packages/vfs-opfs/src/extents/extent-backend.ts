import type { Patch } from './patch.ts';

/**
 * What a database holds: its size, and its content in pieces of one size, 64 KB unless told otherwise, with patches
 * over them, the later over the earlier. A piece that is missing, or short, is zeros from there on.
 */
export interface LoadedExtents {
  readonly sizeBytes: number;
  /** A database keeps the size of the extents that it was made with. */
  readonly extentBytes: number;
  readonly extents: Map<number, Uint8Array>;
  readonly patches: readonly Patch[];
}

/**
 * One or more SQLite commits, as the difference from the last batch: whole extents, or patches where little changed, so
 * that nothing needs to be read first.
 */
export interface ExtentBatch {
  readonly sizeBytes: number;
  readonly extentBytes: number;
  /** All patches so far are gone: `extents` has what they said. */
  readonly dropsPatches: boolean;
  /** Extents from this number on are gone, unless they are in `extents`; Infinity when the database was not cut. */
  readonly cutFrom: number;
  readonly extents: ReadonlyMap<number, Uint8Array>;
  /** Come over the extents, and over the patches so far. */
  readonly patches: readonly Patch[];
}

/** One open database that is written in whole batches, asynchronously. */
export interface ExtentBackend {
  load(): Promise<LoadedExtents>;
  /**
   * Takes its copy of the bytes before it returns. Resolves when the batch took effect, and rejects when nothing of it
   * did.
   */
  write(batch: ExtentBatch): Promise<void>;
  close(): void;
}

/** A place for such databases. */
export interface ExtentCatalog {
  open(name: string, isStrict: boolean): Promise<ExtentBackend>;
  exists(name: string): Promise<boolean>;
  sizeBytes(name: string): Promise<number>;
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}
