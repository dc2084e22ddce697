/**
 * SQLite keeps up to 2 MB of pages per connection for as long as it is open. With 64 files that are in use at the same
 * time, a thread keeps 128 MB at most, and almost nothing for all others.
 */
const MAX_WARM_FILES = 64;

export interface WarmFile {
  /** Frees what can be read again from the file. */
  releaseMemory(): void;
}

/** The files that keep their memory. */
export class WarmFiles {
  private readonly max: number;
  // Least recently used first.
  private readonly files = new Set<WarmFile>();
  private newest: WarmFile | null = null;

  constructor(max: number) {
    this.max = max;
  }

  /** Call before each use of a file. */
  use(file: WarmFile): void {
    if (file === this.newest) return;
    this.files.delete(file);
    this.files.add(file);
    this.newest = file;
    if (this.files.size <= this.max) return;
    for (const oldest of this.files) {
      this.files.delete(oldest);
      oldest.releaseMemory();
      return;
    }
  }

  /** Call when a file is closed. */
  forget(file: WarmFile): void {
    this.files.delete(file);
    if (this.newest === file) this.newest = null;
  }

  has(file: WarmFile): boolean {
    return this.files.has(file);
  }
}

/** The files of this thread. */
export const warmFiles: WarmFiles = new WarmFiles(MAX_WARM_FILES);
