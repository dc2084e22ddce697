import { randomBytes } from 'node:crypto';
import { ID_BYTES } from '@rockpool/shared';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { readMeta, writeMeta } from '../sqlite/meta.ts';

/**
 * The log epoch of a database. Watermarks compare only within one log epoch: a log that lost its end, because its file
 * was replaced by an older copy, assigns the same watermarks to different changesets. Such a log begins a new log epoch
 * as soon as the loss is detected.
 */
export class LogEpoch {
  private readonly sql: SqliteFile;
  private current: { readonly id: Uint8Array; readonly startedAt: number };

  constructor(sql: SqliteFile) {
    this.sql = sql;
    this.current = readEpoch(sql);
  }

  /** 16 random bytes. */
  get id(): Uint8Array {
    return this.current.id;
  }

  /** The highest watermark of this log that a client of an older log epoch may have seen. */
  get startedAt(): number {
    return this.current.startedAt;
  }

  /** Whether `id` is the current or an earlier log epoch of this log. */
  isCurrentOrEarlier(id: Uint8Array): boolean {
    if (Buffer.compare(id, this.id) === 0) return true;
    const before = epochsBefore(this.sql);
    for (let at = 0; at < before.length; at += ID_BYTES)
      if (Buffer.compare(id, before.subarray(at, at + ID_BYTES)) === 0) return true;
    return false;
  }

  /**
   * Begins a new log epoch. Call inside a transaction. Up to `watermark`, the logs of the two log epochs may be equal.
   * With `isAnotherDatabase`, the file is a copy under a different id, and clients of the earlier log epochs belong to
   * the original.
   */
  renew(watermark: number, isAnotherDatabase = false): void {
    writeMeta(
      this.sql,
      'epochs_before',
      isAnotherDatabase ? new Uint8Array(0) : new Uint8Array([...epochsBefore(this.sql), ...this.id]),
    );
    this.current = { id: new Uint8Array(randomBytes(ID_BYTES)), startedAt: watermark };
    writeMeta(this.sql, 'epoch', this.current.id);
    writeMeta(this.sql, 'epoch_start', String(watermark));
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    this.current = readEpoch(this.sql);
  }
}

function epochsBefore(sql: SqliteFile): Uint8Array {
  return (readMeta(sql, 'epochs_before') ?? new Uint8Array(0)) as Uint8Array;
}

function readEpoch(sql: SqliteFile): { readonly id: Uint8Array; readonly startedAt: number } {
  return { id: readMeta(sql, 'epoch') as Uint8Array, startedAt: Number(readMeta(sql, 'epoch_start') ?? 0) };
}
