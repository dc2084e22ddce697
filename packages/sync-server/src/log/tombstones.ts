import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

// So that no commit waits long for an old database to be tidied: a hundred lookups. All tombstones of one watermark go
// together.
const PRUNED_PER_COMMIT = 100;

/**
 * What deleted rows leave behind, so that others learn of it, and its end.
 *
 *   watermark   1 ··················· floor ············ log's end
 *   tombstones  pruned, all of them   │ kept, all of them
 *   a site here reloads               │ is told what is news
 *
 * The floor is the newest tombstone that was pruned, so where nothing is ever deleted nobody ever reloads.
 */
export class Tombstones {
  private readonly sql: SqliteFile;
  private lowest: number;

  constructor(sql: SqliteFile) {
    this.sql = sql;
    this.lowest = readFloor(sql);
  }

  /** The watermark up to which deletes are forgotten. 0: none. */
  get tombstoneHorizon(): number {
    return this.lowest;
  }

  /**
   * Forgets the deletes that came before `beforeMs`, some of them in each transaction. Live sites have passed them:
   * they were at the log's end later. Those after the watermark `since`, where this transaction began, stay: no session
   * has been told of them.
   */
  prune(beforeMs: number, since: number): void {
    // Nearly always one look at the oldest is enough.
    if (this.expired(beforeMs, since, 1).length === 0) return;
    this.lowest = this.expired(beforeMs, since, PRUNED_PER_COMMIT).at(-1) as number;
    writeMeta(this.sql, 'floor', String(this.lowest));
    this.sql.run(
      `DELETE FROM rockpool_document_author WHERE (table_id, key) IN (SELECT table_id, key FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?)`,
      BigInt(this.lowest),
    );
    this.sql.run(`DELETE FROM rockpool_row_version WHERE image IS NOT NULL AND watermark <= ?`, BigInt(this.lowest));
  }

  /** The watermarks of those of the oldest that came before a time. */
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

  /** Back to what is stored, after a transaction that did not commit. */
  reload(): void {
    this.lowest = readFloor(this.sql);
  }
}

function readFloor(sql: SqliteFile): number {
  return Number(readMeta(sql, 'floor') ?? 0);
}
