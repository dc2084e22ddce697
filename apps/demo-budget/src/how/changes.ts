import type { Client } from '@rockpool/client';

/** A changeset of this device, as stored in its changelog (docs/storage.md). */
export interface SentChange {
  readonly sequence: number;
  readonly writtenMs: number;
  readonly sizeBytes: number;
  /** The time from the write until this device received the server's outcome; null until then. */
  readonly latencyMs: number | null;
}

/** The newest changesets of this device, newest first. */
export async function sentChanges(client: Client): Promise<SentChange[]> {
  return await client.query<{
    sequence: number;
    writtenMs: number;
    sizeBytes: number;
    latencyMs: number | null;
  }>(
    `SELECT sequence, stamp_us / 1000 AS writtenMs, length(body) AS sizeBytes,
            (SELECT max(0, min(decided_ms) - log.stamp_us / 1000) FROM rockpool_decided WHERE up_to >= log.sequence) AS latencyMs
     FROM rockpool_changelog AS log ORDER BY sequence DESC LIMIT 8`,
  );
}

/** How far this device has read the server's log. */
export async function readCursor(client: Client): Promise<number> {
  const [row] = await client.query<{ cursor: number }>(
    "SELECT coalesce((SELECT value FROM rockpool_meta WHERE key = 'cursor'), 0) AS cursor",
  );
  return row?.cursor ?? 0;
}
