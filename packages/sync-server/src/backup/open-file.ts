import { closeSync, openSync, readSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { openBesideSqlite, type BesideSqlite } from '../sqlite/beside-sqlite.ts';
import { PageSums, pageSum } from '../sqlite/page-sums.ts';
import type { FileWatcher, SqliteFile } from '../sqlite/sqlite-file.ts';
import { frameContentOffset, readLogAfter, type WalPosition } from '../sqlite/wal-frames.ts';
import { damagedError } from '../store/file-damage.ts';
import { allPages, somePages, type Capture, type PageSource } from './page-source.ts';

/** Where each changed page is: the number of a frame of the log, or 0 for the file. */
type Places = Map<number, number>;

export interface OpenFileEvents {
  /** Called when the log has a commit that the copy lacks. */
  readonly onCommit: () => void;
  readonly onClosed: () => void;
  /** Called when a frame of the log differs from what SQLite wrote. */
  readonly onDamaged: (error: unknown) => void;
  readonly now: () => number;
}

/**
 * A database file that this thread has open. Reads what was committed from SQLite's log, and remembers which pages have
 * changed. No change can be missed: the log restarts only after a WAL checkpoint, which is announced here first.
 */
export class OpenFile implements PageSource, FileWatcher {
  readonly pageSizeBytes: number;
  private readonly path: string;
  private readonly sql: SqliteFile;
  private readonly events: OpenFileEvents;
  private readonly file: BesideSqlite;
  private changed: Places = new Map();
  private position: WalPosition | null = null;
  private lastCommitMs: number | null = null;
  private isClosed = false;
  private captures = 0;

  /** Every page that is in the log counts as changed. */
  constructor(path: string, sql: SqliteFile, events: OpenFileEvents) {
    this.path = path;
    this.sql = sql;
    this.events = events;
    this.pageSizeBytes = Number(sql.get('PRAGMA page_size')?.[0]);
    this.file = openBesideSqlite(path);
    this.collect();
    sql.watch(this);
  }

  readonly onCommit = (): void => {
    this.lastCommitMs = this.events.now();
    this.events.onCommit();
  };

  readonly onCheckpoint = (): void => this.collect();

  readonly onClosing = (): void => {
    this.collect();
    this.isClosed = true;
  };

  readonly onClosed = (): void => {
    this.file.release();
    this.events.onClosed();
  };

  /** Whether pages may differ from the copy. Considers only the part of the log that was read. */
  get hasChanges(): boolean {
    return this.changed.size > 0;
  }

  /** Marks pages as changed that differ even though no commit changed them. They are in the file or in the log. */
  addChanged(pages: Iterable<number>): void {
    for (const page of pages) if (!this.changed.has(page)) this.changed.set(page, 0);
  }

  begin(everything: boolean): Capture {
    if (this.isClosed) throw closedError();
    this.collect();
    const { changed, position } = this;
    this.changed = new Map();
    this.captures++;
    this.sql.pauseCheckpoints(true);
    const pageCount = Number(this.sql.get('PRAGMA page_count')?.[0]);
    const sums = PageSums.openExisting(this.path);
    const places = everything ? this.placesInLog() : changed;
    let isReading = true;
    return {
      pageCount,
      pages: everything
        ? allPages(pageCount)
        : somePages([...changed.keys()].filter((page) => page <= pageCount).sort((a, b) => a - b)),
      timeMs: this.lastCommitMs,
      watermark: this.watermark(),
      read: (page) => this.read(page, places.get(page) ?? 0, sums),
      end: () => {
        if (!isReading) return;
        isReading = false;
        sums?.close();
        if (--this.captures === 0) this.sql.pauseCheckpoints(false);
      },
      giveBack: () => this.takeBack(changed, position),
    };
  }

  /** Reads the frames since the last call. */
  private collect(): void {
    if (this.isClosed) return;
    const before = this.position;
    try {
      const after = readLogAfter(this.path, before, this.sql.logFrames, (page, frame) => {
        if (frame === 1) this.forgetFrames();
        this.changed.set(page, frame);
      });
      if (after !== null) this.position = after;
    } catch (error) {
      this.events.onDamaged(error);
    }
  }

  /** The log restarted, so the file contains everything that was in it. */
  private forgetFrames(): void {
    for (const page of this.changed.keys()) this.changed.set(page, 0);
  }

  private takeBack(places: Places, position: WalPosition | null): void {
    const isSameLog = position !== null && this.position !== null && position.salts.equals(this.position.salts);
    for (const [page, frame] of places) if (!this.changed.has(page)) this.changed.set(page, isSameLog ? frame : 0);
  }

  private placesInLog(): Places {
    const places: Places = new Map();
    readLogAfter(this.path, null, this.sql.logFrames, (page, frame) => void places.set(page, frame));
    return places;
  }

  private read(page: number, frame: number, sums: PageSums | null): Buffer {
    if (this.isClosed) throw closedError();
    const content = Buffer.alloc(this.pageSizeBytes);
    if (frame > 0) {
      this.readLog(content, frame);
      return content;
    }
    const read = readSync(this.file.descriptor, content, 0, content.length, (page - 1) * this.pageSizeBytes);
    const [expected = 0] = sums?.read(page, 1) ?? [];
    // The page is new and was freed before it was written. The next WAL checkpoint extends the file to its full length.
    if (read < content.length && expected === 0) return content.fill(0);
    if (read < content.length) throw damagedError('truncated');
    if (expected !== 0 && expected !== pageSum(content)) throw damagedError('page-checksum', { pages: 1 });
    return content;
  }

  /** A descriptor of the log may be closed at any time: SQLite takes no locks on that file. */
  private readLog(content: Buffer, frame: number): void {
    const log = openSync(`${this.path}-wal`, 'r');
    try {
      readSync(log, content, 0, content.length, frameContentOffset(frame, this.pageSizeBytes));
    } finally {
      closeSync(log);
    }
  }

  private watermark(): number {
    return Number(this.sql.get('SELECT watermark FROM rockpool_log ORDER BY watermark DESC LIMIT 1')?.[0] ?? 0);
  }
}

export function closedError(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'the file was closed while it was being copied' });
}
