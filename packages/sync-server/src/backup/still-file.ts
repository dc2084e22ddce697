import { closeSync, openSync, readSync } from 'node:fs';
import { damagedError } from '../store/file-damage.ts';
import { readSqliteHeader } from '../sqlite/sqlite-header.ts';
import { allPages, type Capture, type PageSource } from './page-source.ts';

/** A database file that nothing has open with SQLite, without a write-ahead log. Every page counts as changed. */
export class StillFile implements PageSource {
  readonly pageSizeBytes: number;
  private readonly path: string;
  private readonly pageCount: number;
  private readonly watermark: number | null;
  private readonly timeMs: number | null;

  constructor(
    path: string,
    { watermark = null, timeMs = null }: { readonly watermark?: number | null; readonly timeMs?: number | null } = {},
  ) {
    const header = readSqliteHeader(path);
    if (header === null) throw damagedError('not-sqlite');
    this.path = path;
    this.pageSizeBytes = header.pageSizeBytes;
    this.pageCount = header.pageCount;
    this.watermark = watermark;
    this.timeMs = timeMs;
  }

  begin(): Capture {
    const descriptor = openSync(this.path, 'r');
    let isReading = true;
    const { pageSizeBytes, pageCount, watermark, timeMs } = this;
    return {
      pageCount,
      pages: allPages(pageCount),
      timeMs,
      watermark,
      read: (page) => {
        const content = Buffer.alloc(pageSizeBytes);
        if (readSync(descriptor, content, 0, pageSizeBytes, (page - 1) * pageSizeBytes) < pageSizeBytes)
          throw damagedError('truncated');
        return content;
      },
      end: () => {
        if (isReading) closeSync(descriptor);
        isReading = false;
      },
      giveBack: () => undefined,
    };
  }
}
