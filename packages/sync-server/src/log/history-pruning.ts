import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { raiseHistoryHorizons } from './history-horizons.ts';
import { leadingExpired, OldestEntry } from './oldest-entry.ts';

// Limits the pruned versions per commit, so that no commit waits long for the cleanup of an old database.
const PRUNED_PER_COMMIT = 200;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Prunes versions of rows: those past the retention of their table, and those of tables that no longer declare a
 * history.
 */
export class HistoryPruning {
  private readonly sql: SqliteFile;
  private readonly limited: readonly {
    readonly id: bigint;
    readonly retainedMs: number;
    readonly oldest: OldestEntry;
  }[];
  private readonly kept: ReadonlySet<bigint>;
  private mayHaveOthers = true;

  constructor(sql: SqliteFile, tables: Iterable<StoredTable>) {
    this.sql = sql;
    const schemas = [...tables].map(({ schema }) => schema);
    this.kept = new Set(schemas.flatMap(({ id, history }) => (history === undefined ? [] : [BigInt(id)])));
    this.limited = schemas.flatMap(({ id, history }) =>
      history === undefined || history.retainedDays === null
        ? []
        : [{ id: BigInt(id), retainedMs: history.retainedDays * DAY_MS, oldest: new OldestEntry() }],
    );
  }

  prune(nowMs: number): void {
    if (this.mayHaveOthers) this.pruneOthers();
    for (const { id, retainedMs, oldest } of this.limited) {
      const beforeMs = nowMs - retainedMs;
      if (!oldest.mayBeBefore(beforeMs, nowMs)) continue;
      const first = this.first(id, 1, nowMs)[0];
      if (first === undefined || first.receivedMs >= beforeMs) {
        oldest.note(first?.receivedMs ?? null, nowMs);
        continue;
      }
      const expired = leadingExpired(this.first(id, PRUNED_PER_COMMIT, nowMs), beforeMs);
      this.deleteUpTo(id, expired.at(-1)?.watermark ?? first.watermark);
    }
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    for (const { oldest } of this.limited) oldest.forget();
  }

  /** Deletes versions of tables that no longer keep a history. */
  private pruneOthers(): void {
    const next = (after: bigint): bigint | null =>
      this.sql.get('SELECT min(table_id) FROM rockpool_history WHERE table_id > ?', after)?.[0] as bigint | null;
    let other = next(-1n);
    while (other !== null && this.kept.has(other)) other = next(other);
    if (other === null) this.mayHaveOthers = false;
    else
      this.deleteUpTo(
        other,
        Number(
          this.sql.get(
            'SELECT max(watermark) FROM (SELECT watermark FROM rockpool_history WHERE table_id = ? ORDER BY watermark LIMIT ?)',
            other,
            BigInt(PRUNED_PER_COMMIT),
          )?.[0],
        ),
      );
  }

  private deleteUpTo(table: bigint, watermark: number): void {
    raiseHistoryHorizons(this.sql, [[table, watermark]]);
    this.sql.run('DELETE FROM rockpool_history WHERE table_id = ? AND watermark <= ?', table, BigInt(watermark));
  }

  /** Omits versions of a clock that was ahead, like Tombstones. */
  private first(
    table: bigint,
    count: number,
    nowMs: number,
  ): { readonly watermark: number; readonly receivedMs: number }[] {
    return this.sql
      .all(
        'SELECT watermark, received_ms FROM rockpool_history JOIN rockpool_log USING (watermark) WHERE table_id = ? AND received_ms <= ? ORDER BY watermark LIMIT ?',
        table,
        BigInt(Math.floor(nowMs)),
        BigInt(count),
      )
      .map(([watermark, receivedMs]) => ({ watermark: Number(watermark), receivedMs: Number(receivedMs) }));
  }
}
