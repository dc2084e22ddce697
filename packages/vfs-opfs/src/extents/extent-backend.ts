import type { Patch } from './patch.ts';

/**
 * The content of a database: its size, its extents of equal size (64 KB by default), and patches over them. Later
 * patches override earlier ones. A missing extent, or the missing end of a short one, reads as zeros.
 */
export interface LoadedExtents {
  readonly sizeBytes: number;
  /** The extent size, which a database keeps from its creation on. */
  readonly extentBytes: number;
  readonly extents: Map<number, Uint8Array>;
  readonly patches: readonly Patch[];
}

/**
 * One or more SQLite commits as the difference from the last batch: whole extents, or patches where little changed. The
 * backend writes them without reading anything first.
 */
export interface ExtentBatch {
  readonly sizeBytes: number;
  readonly extentBytes: number;
  /** Whether to delete all stored patches, because `extents` includes their content. */
  readonly dropsPatches: boolean;
  /**
   * Deletes the stored extents from this number on; Infinity when the database was not truncated. Applies before
   * `extents`.
   */
  readonly cutFrom: number;
  readonly extents: ReadonlyMap<number, Uint8Array>;
  /** The patches, which apply over the extents and the stored patches. */
  readonly patches: readonly Patch[];
}

/** One open database that takes whole batches, asynchronously. */
export interface ExtentBackend {
  load(): Promise<LoadedExtents>;
  /** Copies the bytes before it returns. Resolves when the batch took effect, and rejects when nothing of it did. */
  write(batch: ExtentBatch): Promise<void>;
  close(): void;
}

/** The databases of one medium. */
export interface ExtentCatalog {
  open(name: string, isStrict: boolean): Promise<ExtentBackend>;
  exists(name: string): Promise<boolean>;
  sizeBytes(name: string): Promise<number>;
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}
