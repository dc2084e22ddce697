import { CONFLICT_TABLE } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { raiseHistoryHorizons } from './history-horizons.ts';
import { leadingExpired, OldestEntry } from './oldest-entry.ts';

// The number of lookups is limited, so that no commit waits long for the pruning of an old database. All tombstones of
// one watermark are pruned together.
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
  private readonly oldest: OldestEntry = new OldestEntry();
  private horizon: number;

  constructor(sql: SqliteFile) {
    this.sql = sql;
    this.horizon = readHorizon(sql);
  }

  /** The watermark up to which tombstones are pruned; 0 if none are. */
  get tombstoneHorizon(): number {
    return this.horizon;
  }

  /**
   * Prunes tombstones of deletes received more than `retentionMs` ago, a limited number per transaction. Sites that
   * reached the end of the log since then have seen them. Tombstones after `since`, the watermark at the start of this
   * transaction, stay, because no session has received them.
   */
  prune(retentionMs: number, since: number, nowMs: number): void {
    const beforeMs = nowMs - retentionMs;
    if (!this.oldest.mayBeBefore(beforeMs, nowMs)) return;
    const [oldest] = this.first(1, since, nowMs);
    if (oldest === undefined || oldest.receivedMs >= beforeMs)
      return this.oldest.note(oldest?.receivedMs ?? null, nowMs);
    const expired = leadingExpired(this.first(PRUNED_PER_COMMIT, since, nowMs), beforeMs);
    this.horizon = expired.at(-1)?.watermark ?? oldest.watermark;
    writeMeta(this.sql, 'floor', String(this.horizon));
    this.sql.run(
      `DELETE FROM rockpool_document_author WHERE (table_id, key) IN (SELECT table_id, key FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?)`,
      BigInt(this.horizon),
    );
    // If a row has neither a version nor its tombstone, no record shows that it existed.
    raiseHistoryHorizons(
      this.sql,
      this.sql.all(
        `SELECT table_id, max(watermark) FROM rockpool_row_version AS gone WHERE image IS NOT NULL AND watermark <= ? AND table_id <> ?
           AND NOT EXISTS (SELECT 1 FROM rockpool_history AS kept WHERE kept.table_id = gone.table_id AND kept.key = gone.key AND kept.watermark = gone.watermark)
         GROUP BY table_id`,
        BigInt(this.horizon),
        BigInt(CONFLICT_TABLE.id),
      ),
    );
    this.sql.run(`DELETE FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?`, BigInt(this.horizon));
  }

  /**
   * The oldest `count` tombstones up to the watermark `since`. Omits those of a clock that was ahead, which would keep
   * the ones behind them until the clock is there: they are pruned together with a later one.
   */
  private first(
    count: number,
    since: number,
    nowMs: number,
  ): { readonly watermark: number; readonly receivedMs: number }[] {
    return this.sql
      .all(
        `SELECT watermark, received_ms FROM rockpool_row_version JOIN rockpool_log USING (watermark) WHERE image IS NOT NULL AND watermark <= ? AND received_ms <= ? ORDER BY watermark LIMIT ?`,
        BigInt(since),
        BigInt(Math.floor(nowMs)),
        BigInt(count),
      )
      .map(([watermark, receivedMs]) => ({ watermark: Number(watermark), receivedMs: Number(receivedMs) }));
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    this.horizon = readHorizon(this.sql);
    this.oldest.forget();
  }
}

function readHorizon(sql: SqliteFile): number {
  return Number(readMeta(sql, 'floor') ?? 0);
}
