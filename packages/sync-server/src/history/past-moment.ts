import { RockpoolError } from '@rockpool/shared';
import type { SqliteFile, SqlRow } from '../sqlite/sqlite-file.ts';

/**
 * A changeset, identified by its author: in a restored log, its watermark may differ, but its author stays the same.
 */
export interface ChangesetAuthor {
  /** 32 hex digits. */
  readonly site: string;
  readonly sequence: number;
}

/** A moment of a database: after a changeset, or at this time, in ms since 1970. */
export type PastMoment = { readonly watermark: number } | ChangesetAuthor | { readonly timeMs: number };

/** A moment in the log, as plain data. */
export interface FoundMoment {
  readonly watermark: number;
  /** When the server received the changeset, in ms since 1970. */
  readonly receivedMs: number;
}

/**
 * Finds the last changeset that the server received at or before a time. Throws `history-moment-gone` with the reason
 * `before-start` if there is none, or `unknown` if the log has no changeset of this author, and `request-invalid` for a
 * watermark above the log.
 */
export function findMoment(sql: SqliteFile, moment: PastMoment): FoundMoment {
  const row = readMoment(sql, moment);
  if (row !== undefined) return { watermark: Number(row[0]), receivedMs: Number(row[1]) };
  if ('watermark' in moment)
    throw new RockpoolError('request-invalid', {
      problem: 'the log has no such watermark',
      watermark: moment.watermark,
    });
  if ('site' in moment) throw new RockpoolError('history-moment-gone', { reason: 'unknown', ...moment });
  const first = sql.get('SELECT received_ms FROM rockpool_log ORDER BY watermark LIMIT 1')?.[0] ?? null;
  throw new RockpoolError('history-moment-gone', {
    reason: 'before-start',
    earliestMs: first === null ? null : Number(first),
  });
}

function readMoment(sql: SqliteFile, moment: PastMoment): SqlRow | undefined {
  if ('timeMs' in moment)
    // The server's clock may have been set back, so the last matching entry counts.
    return sql.get(
      'SELECT watermark, received_ms FROM rockpool_log WHERE received_ms <= ? ORDER BY watermark DESC LIMIT 1',
      BigInt(Math.floor(moment.timeMs)),
    );
  if ('watermark' in moment)
    return sql.get('SELECT watermark, received_ms FROM rockpool_log WHERE watermark = ?', BigInt(moment.watermark));
  // Reads the whole log, which takes less time than reading the rows afterwards.
  return sql.get(
    `SELECT watermark, received_ms FROM rockpool_log
     WHERE site_number = (SELECT number FROM rockpool_site WHERE site = ?) AND sequence = ?
     ORDER BY watermark DESC LIMIT 1`,
    Buffer.from(moment.site, 'hex'),
    BigInt(moment.sequence),
  );
}

/** Returns the first time whose state is complete if all versions above a watermark are kept. */
export function momentAfter(sql: SqliteFile, watermark: number): number | null {
  const row = sql.get('SELECT received_ms FROM rockpool_log WHERE watermark >= ? LIMIT 1', BigInt(watermark));
  return row === undefined ? null : Number(row[0]);
}

/** Returns the highest watermark of the changesets that the server received before a time, or 0 if there are none. */
export function lastBefore(sql: SqliteFile, timeMs: number): number {
  if (timeMs === -Infinity) return 0;
  return Number(
    sql.get('SELECT max(watermark) FROM rockpool_log WHERE received_ms < ?', BigInt(Math.floor(timeMs)))?.[0] ?? 0n,
  );
}
