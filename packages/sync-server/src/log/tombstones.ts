import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

// A hundred lookups, so that no commit waits long for the pruning of an old database. All tombstones of one watermark
// are pruned together.
const PRUNED_PER_COMMIT = 100;

/**
 * Prunes the tombstones of deleted rows.
 *
 *   watermark   1 ················· horizon ············ log's end
 *   tombstones  pruned, all of them   │ kept, all of them
 *   a cursor here: full resync        │ a cursor here: changes only
 *
 * The tombstone horizon is the watermark of the newest pruned tombstone. A database without deletes never causes a full
 * resync.
 */
export class Tombstones {
  private readonly sql: SqliteFile;
  private horizon: number;

  constructor(sql: SqliteFile) {
    this.sql = sql;
    this.horizon = readHorizon(sql);
  }

  /** The watermark up to which tombstones are pruned. 0: none. */
  get tombstoneHorizon(): number {
    return this.horizon;
  }

  /**
   * Prunes tombstones of deletes received before `beforeMs`, a limited number per transaction. Sites that reached the
   * end of the log since then have seen them. Tombstones after the watermark `since`, at which this transaction began,
   * stay, because no session has received them.
   */
  prune(beforeMs: number, since: number): void {
    // Checking the oldest tombstone is nearly always enough.
    if (this.expired(beforeMs, since, 1).length === 0) return;
    this.horizon = this.expired(beforeMs, since, PRUNED_PER_COMMIT).at(-1) as number;
    writeMeta(this.sql, 'floor', String(this.horizon));
    this.sql.run(
      `DELETE FROM rockpool_document_author WHERE (table_id, key) IN (SELECT table_id, key FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?)`,
      BigInt(this.horizon),
    );
    this.sql.run(`DELETE FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?`, BigInt(this.horizon));
  }

  /** Returns the watermarks of the oldest `count` tombstones, as far as they were received before `beforeMs`. */
  private expired(beforeMs: number, since: number, count: number): number[] {
    return this.sql
      .all(
        `SELECT watermark, received_ms FROM rockpool_row_version JOIN rockpool_log USING (watermark) WHERE image IS NOT NULL AND watermark <= ? ORDER BY watermark LIMIT ?`,
        BigInt(since),
        BigInt(count),
      )
      .filter(([, receivedMs]) => Number(receivedMs) < beforeMs)
      .map(([watermark]) => Number(watermark));
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    this.horizon = readHorizon(this.sql);
  }
}

function readHorizon(sql: SqliteFile): number {
  return Number(readMeta(sql, 'floor') ?? 0);
}
