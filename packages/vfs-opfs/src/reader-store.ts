import type { DatabaseStore } from './database-store.ts';
import type { SnapshotPins } from './locks/snapshot-pins.ts';
import { LogFollower } from './log/follow.ts';
import { readLog } from './log/recovery.ts';
import { PageView } from './pages/page-view.ts';
import type { DatabaseFiles } from './pages/page-view.ts';
import { StorageError } from './storage-error.ts';

/** Bytes 24 to 39 of the file: SQLite compares them at the start of a read transaction to learn whether its page cache is stale. */
const CHANGE_COUNTER_AT = 24;
const CHANGE_COUNTER_BYTES = 16;

/** A reader's database: the view of the latest commit as of the start of its read transaction. */
export class ReaderStore implements DatabaseStore {
  readonly isReadOnly = true;
  readonly #files: DatabaseFiles;
  readonly #poolSizeBytes: number;
  readonly #pins: SnapshotPins;
  #view: PageView;
  #follower: LogFollower;
  #isReading = false;
  #wasNudged = false;
  /** Set when the view was built anew: the change counter might by chance be the one that SQLite remembers. */
  #mustLookChanged = false;

  constructor(files: DatabaseFiles, view: PageView, poolSizeBytes: number, pins: SnapshotPins) {
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
    if (this.#wasNudged) this.nudge();
  }

  /** The writer waits for readers to leave an old generation: move on now, or when the running read transaction ends. */
  nudge(): void {
    this.#wasNudged = this.#isReading;
    if (!this.#isReading) this.#advance();
  }

  sizeBytes(): number {
    return this.#view.sizeBytes;
  }

  read(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = Math.min(length, this.#view.sizeBytes - at);
    if (count <= 0) return 0;
    this.#view.read(heap, target, count, at);
    if (this.#mustLookChanged && at === CHANGE_COUNTER_AT && length === CHANGE_COUNTER_BYTES) {
      this.#mustLookChanged = false;
      heap[target] = heap[target]! ^ 0xff;
    }
    return count;
  }

  write(): void {
    throw new StorageError('storage-failed', { operation: 'write', reason: 'opened as reader' });
  }

  truncate(): void {
    throw new StorageError('storage-failed', { operation: 'truncate', reason: 'opened as reader' });
  }

  // SQLite opens the file read-only, so there is never anything to commit.
  commit(): void {}
  rollback(): void {}

  #advance(): void {
    if (this.#follower.advance() === 'lost') this.#rebuild();
    this.#pins.moveTo(this.#view.active.number);
  }

  #rebuild(): void {
    // Between reading the log and this point the writer may have moved on again; then the next look finds out.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const log = readLog(this.#files.segments);
      if (log?.active === undefined) break;
      this.#view = new PageView(this.#files, log.pageSizeBytes, this.#poolSizeBytes, log.active, log.sealed);
      this.#follower = new LogFollower(this.#view);
      this.#mustLookChanged = true;
      if (this.#follower.advance() === 'current') return;
    }
    throw new StorageError('storage-snapshot-lost', { generation: this.#view.active.number });
  }
}
