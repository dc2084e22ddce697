/**
 * SQLite keeps up to 2 MB of pages per connection for as long as it is open, and 200 to 400 KB for a small file that
 * was just opened or created. The first use of a file without them reads the few pages that it needs from the system's
 * cache: with 40 files used in turn, limits of 8, 16 and 64 cost the same processor time per commit. With a limit of
 * 64, 500 small databases took 60 KB more per file.
 */
const MAX_WARM_FILES = 16;

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
