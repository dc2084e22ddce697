import { CONFLICT_TABLE_NAME } from '@rockpool/shared';
import type { Retention } from '../log/retention.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { deleteConflict } from './delete-conflict.ts';

// Limits the expired entries per commit, so that no commit waits long for the cleanup of an old database.
const PURGED_PER_COMMIT = 100;

/**
 * Deletes entries of the conflict log that exceed the retention time or number. The deletes are at the end of the log,
 * so clients receive them like any other delete. Entries after the watermark `since` stay, whatever their number: no
 * entry is purged before a client could see it.
 */
export function purgeConflicts(file: DatabaseFile, retention: Retention, since: number, nowMs: number): void {
  const purged = new Set([
    ...tooOld(file, retention.conflictsMs, since, nowMs),
    ...idsAboveLimit(file, retention.maxConflicts, since),
  ]);
  for (const id of purged) deleteConflict(file, id, file.log.watermark);
}

/** Ids sort by the time of their decision, so checking the oldest entry is nearly always sufficient. */
function tooOld({ sql, oldestConflict }: DatabaseFile, retentionMs: number, since: number, nowMs: number): string[] {
  const beforeMs = nowMs - retentionMs;
  if (!oldestConflict.mayBeBefore(beforeMs, nowMs)) return [];
  const first = (count: number): { readonly id: string; readonly receivedMs: number }[] =>
    sql
      .all(
        // Entries of a clock that was ahead would keep those behind them.
        `SELECT id, received_ms FROM ${CONFLICT_TABLE_NAME} JOIN rockpool_log USING (watermark) WHERE watermark <= ? AND received_ms <= ? ORDER BY id LIMIT ?`,
        BigInt(since),
        BigInt(Math.floor(nowMs)),
        BigInt(count),
      )
      .map(([id, receivedMs]) => ({ id: id as string, receivedMs: Number(receivedMs) }));
  const [oldest] = first(1);
  if (oldest === undefined || oldest.receivedMs >= beforeMs) {
    oldestConflict.note(oldest?.receivedMs ?? null, nowMs);
    return [];
  }
  return first(PURGED_PER_COMMIT)
    .filter(({ receivedMs }) => receivedMs < beforeMs)
    .map(({ id }) => id);
}

function idsAboveLimit({ sql }: DatabaseFile, maxConflicts: number, since: number): string[] {
  const newestWatermark = sql.get(`SELECT watermark FROM ${CONFLICT_TABLE_NAME} ORDER BY id DESC LIMIT 1`)?.[0] ?? 0n;
  // No entry has been added since, so the limit cannot be exceeded.
  if (Number(newestWatermark) <= since) return [];
  const newest = sql.get(
    `SELECT id FROM ${CONFLICT_TABLE_NAME} ORDER BY id DESC LIMIT 1 OFFSET ?`,
    BigInt(maxConflicts),
  )?.[0];
  if (newest === undefined) return [];
  return sql
    .all(`SELECT id FROM ${CONFLICT_TABLE_NAME} WHERE id <= ? AND watermark <= ?`, newest as string, BigInt(since))
    .map(([id]) => id as string);
}
