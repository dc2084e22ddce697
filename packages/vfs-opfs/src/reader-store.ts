import type { SnapshotPins } from './locks/snapshot-pins.ts';
import { LogFollower } from './log/log-follower.ts';
import { readLog } from './log/recovery.ts';
import { PageView } from './pages/page-view.ts';
import type { DatabaseFiles } from './pages/page-view.ts';
import { ReadOnlyStore } from './read-only-store.ts';
import { StorageError } from './storage-error.ts';

/** A reader's database: the view of the latest commit at the start of its read transaction. */
export class ReaderStore extends ReadOnlyStore {
  readonly #files: DatabaseFiles;
  readonly #poolSizeBytes: number;
  readonly #pins: SnapshotPins;
  #view: PageView;
  #follower: LogFollower;
  #isReading = false;
  #mustAdvance = false;

  constructor(files: DatabaseFiles, view: PageView, poolSizeBytes: number, pins: SnapshotPins) {
    super();
    this.#files = files;
    this.#view = view;
    this.#poolSizeBytes = poolSizeBytes;
    this.#pins = pins;
    this.#follower = new LogFollower(view);
  }

  get pageSizeBytes(): number {
    return this.#view.pageSizeBytes;
  }

  beginRead(): void {
    this.#advance();
    this.#isReading = true;
  }

  endRead(): void {
    this.#isReading = false;
    if (this.#mustAdvance) this.advanceWhenIdle();
  }

  /**
   * Leaves the old generation at once or at the end of the current read transaction. The writer is waiting to copy it.
   */
  advanceWhenIdle(): void {
    this.#mustAdvance = this.#isReading;
    if (!this.#isReading) this.#advance();
  }

  sizeBytes(): number {
    return this.#view.sizeBytes;
  }

  protected readSnapshot(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = Math.min(length, this.#view.sizeBytes - at);
    if (count <= 0) return 0;
    this.#view.read(heap, target, count, at);
    return count;
  }

  #advance(): void {
    if (this.#follower.advance() === 'lost') this.#rebuild();
    this.#pins.moveTo(this.#view.active.number);
  }

  #rebuild(): void {
    // The writer may have moved on since the log was read; the next attempt reads it again.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const log = readLog(this.#files.segments);
      if (log?.active === undefined) break;
      this.#view = new PageView(this.#files, log.pageSizeBytes, this.#poolSizeBytes, log.active, log.sealed);
      this.#follower = new LogFollower(this.#view);
      this.invalidateSqliteCache();
      if (this.#follower.advance() === 'current') return;
    }
    throw new StorageError('storage-snapshot-lost', { generation: this.#view.active.number });
  }
}
