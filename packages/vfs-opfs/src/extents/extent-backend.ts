/** What a database holds: its size, and its content in pieces of 64 KB. A piece that is missing, or short, is zeros from there on. */
export interface LoadedExtents {
  readonly sizeBytes: number;
  readonly extents: Map<number, Uint8Array>;
}

/** One or more SQLite commits, as the difference from the last batch: whole extents, so that nothing needs to be read first. */
export interface ExtentBatch {
  readonly sizeBytes: number;
  /** Extents from this number on are gone, unless they are in `extents`; Infinity when the database was not cut. */
  readonly cutFrom: number;
  readonly extents: ReadonlyMap<number, Uint8Array>;
}

/** One open database that is written in whole batches, asynchronously. */
export interface ExtentBackend {
  load(): Promise<LoadedExtents>;
  /** Takes its copy of the bytes before it returns. Resolves when the batch took effect, and rejects when nothing of it did. */
  write(batch: ExtentBatch): Promise<void>;
  close(): void;
}

/** A place for such databases. */
export interface ExtentPlace {
  open(name: string, isStrict: boolean): Promise<ExtentBackend>;
  exists(name: string): Promise<boolean>;
  sizeBytes(name: string): Promise<number>;
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}
