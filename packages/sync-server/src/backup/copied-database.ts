import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { PageSums } from '../sqlite/page-sums.ts';
import type { CopyFacts } from './copy-record.ts';
import { differingPages } from './differing-pages.ts';
import { closedError, OpenFile } from './open-file.ts';
import { PageCopier, type PageCopierOptions } from './page-copier.ts';

export interface CopiedDatabaseEvents {
  /** Called when pages have to be copied. */
  readonly onChange: () => void;
  /** Called when the file is closed. `isComplete`: whether the copy has all its pages. */
  readonly onClosed: (isComplete: boolean) => void;
  readonly onDamaged: (error: unknown) => void;
}

/** A database that this thread has open, and its copy. */
export class CopiedDatabase {
  /** The time of the first commit that no copy has begun to read. Null if there is none. */
  private uncopiedSinceMs: number | null = null;
  private copyingSinceMs: number | null = null;
  private readonly options: PageCopierOptions;
  private readonly events: CopiedDatabaseEvents;
  private readonly file: OpenFile;
  // Null until `begin` has succeeded.
  private copier: PageCopier | null = null;
  private copying: Promise<boolean> | null = null;
  private isBeginning = false;
  private isFileClosed = false;
  private readonly end = Promise.withResolvers<void>();

  constructor(sql: SqliteFile, options: PageCopierOptions, events: CopiedDatabaseEvents) {
    this.options = options;
    this.events = events;
    this.file = new OpenFile(options.databasePath, sql, {
      onCommit: () => this.changed(),
      onClosed: () => this.closed(),
      onDamaged: (error) => events.onDamaged(error),
      now: options.now,
    });
  }

  get facts(): CopyFacts | null {
    return this.copier?.facts ?? null;
  }

  /** Resolves once the file is closed and no copy of it is under way. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  /** Whether changes exist that no copy has begun to read. */
  get hasChanges(): boolean {
    return this.uncopiedSinceMs !== null;
  }

  /** Whether the destination may lack changes. */
  get isPending(): boolean {
    return (this.copier === null && !this.isFileClosed) || this.copying !== null || this.hasChanges;
  }

  /** The time of the first commit that the destination lacks. Null if none is known. */
  get lagSinceMs(): number | null {
    return this.copyingSinceMs ?? this.uncopiedSinceMs;
  }

  /**
   * Finds the changes before this opening that the copy lacks. `earlier` resolves once the copy of an earlier opening
   * has ended. If this fails, the next copy tries again.
   */
  async begin(earlier: Promise<void>): Promise<void> {
    this.isBeginning = true;
    try {
      await earlier;
      if (!this.isFileClosed) this.copier = await this.openCopier();
    } finally {
      this.isBeginning = false;
      if (this.isFileClosed) this.finish();
    }
    if (this.isFileClosed) return;
    if (this.facts === null || this.file.hasChanges) this.changed();
    else this.renewOld();
  }

  /** Begins a new generation if the present one would keep earlier states forever. */
  renewOld(): void {
    if (this.copier?.isOutdated === true && !this.isPending) this.changed();
  }

  /** Copies the differences. Returns whether there were any. Call again only after it has settled. */
  async copy(): Promise<boolean> {
    if (this.copier === null && !this.isBeginning && !this.isFileClosed) await this.begin(Promise.resolve());
    const { copier } = this;
    if (copier === null || this.isFileClosed) return false;
    this.copyingSinceMs = this.uncopiedSinceMs;
    this.uncopiedSinceMs = null;
    this.copying = copier.copy(this.file);
    try {
      return await this.copying;
    } catch (error) {
      this.uncopiedSinceMs = this.copyingSinceMs ?? this.uncopiedSinceMs;
      throw error;
    } finally {
      this.copying = null;
      this.copyingSinceMs = null;
      if (this.isFileClosed) this.finish();
    }
  }

  private changed(): void {
    this.uncopiedSinceMs ??= this.options.now();
    this.events.onChange();
  }

  private async openCopier(): Promise<PageCopier> {
    const copier = new PageCopier(this.options);
    try {
      const { facts } = copier;
      if (facts !== null) {
        // If the server is killed from now on, the record must not state that the copy is complete.
        copier.setComplete(false);
        // Compares even after a clean closing, because a program that makes no backup may have used the file since.
        await this.compare(copier, facts);
      }
      return copier;
    } catch (error) {
      copier.close();
      throw error;
    }
  }

  /** Every page that is not in the log has its checksum beside the file, unless none was ever written. */
  private async compare(copier: PageCopier, { pageCount: copied }: CopyFacts): Promise<void> {
    const sums = PageSums.openExisting(this.options.databasePath);
    try {
      const slices = differingPages({
        pageCount: Math.max(copied, sums?.pageCount ?? 0),
        stored: (first, count) => sums?.read(first, count) ?? new Uint32Array(count),
        copied: (first, count) => copier.copiedSums(first, count),
        unknownDiffers: true,
      });
      for (const differing of slices) {
        this.file.addChanged(differing);
        await new Promise((resolve) => setImmediate(resolve));
        // The pages that were not compared may differ, so the record must not state that the copy is complete.
        if (this.isFileClosed) throw closedError();
      }
    } finally {
      sums?.close();
    }
  }

  private closed(): void {
    this.isFileClosed = true;
    // A running `copy` or `begin` finishes the database when it ends.
    if (this.copying === null && !this.isBeginning) this.finish();
  }

  /**
   * Ends the database even if its record cannot be written: the next opening copies nothing before that, and finds an
   * incomplete copy.
   */
  private finish(): void {
    const { copier } = this;
    const isComplete = this.facts !== null && !this.file.hasChanges && this.uncopiedSinceMs === null;
    this.copier = null;
    try {
      copier?.setComplete(isComplete);
      copier?.setUsed(new Date());
    } catch {
      // Must not fail the closing of the file.
    } finally {
      copier?.close();
      this.events.onClosed(isComplete);
      this.end.resolve();
    }
  }
}
