import { randomBytes } from 'node:crypto';
import { ID_BYTES } from '@rockpool/shared';
import type { SqliteFile } from '../store/sqlite-file.ts';
import { readMeta, writeMeta } from '../store/meta.ts';

/**
 * The identity of a log. Watermarks mean something only within one epoch: a log that has lost its end, because its file was replaced by an
 * older copy, gives the same watermarks again to other changesets. It gets a new epoch as soon as that shows.
 */
export class Epoch {
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

  /** What a client of an older epoch may have seen of this log reaches up to here at most. */
  get startedAt(): number {
    return this.current.startedAt;
  }

  /** Begins a new epoch, inside a transaction. `watermark`: up to which the logs of both epochs may be the same. */
  renew(watermark: number): void {
    this.current = { id: new Uint8Array(randomBytes(ID_BYTES)), startedAt: watermark };
    writeMeta(this.sql, 'epoch', this.current.id);
    writeMeta(this.sql, 'epoch_start', String(watermark));
  }

  /** Back to what is stored, after a transaction that did not commit. */
  reload(): void {
    this.current = readEpoch(this.sql);
  }
}

function readEpoch(sql: SqliteFile): { readonly id: Uint8Array; readonly startedAt: number } {
  return { id: readMeta(sql, 'epoch') as Uint8Array, startedAt: Number(readMeta(sql, 'epoch_start') ?? 0) };
}
