import type { ChangesetOrigin } from '@rockpool/shared';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/**
 * How long the origin of an admitted changeset is remembered. Each takes about 60 bytes, and only re-created changesets
 * have one. If a copy of a device re-creates a changeset after a longer time, the changeset takes effect again.
 */
const ORIGIN_RETENTION_MS = 365 * 24 * 3600 * 1000;

/**
 * Whether a changeset has been admitted, under its own site and sequence or re-created. The hash of an admitted
 * changeset is kept for 30 days (outcomes.ts), the origin of a re-created one for a year.
 */
export function hasTakenEffect(sql: SqliteFile, origin: ChangesetOrigin): boolean {
  const { siteId, sequence, hash } = origin;
  return (
    wasRecreated(sql, origin) ||
    sql.get(
      `SELECT 1 FROM rockpool_outcome WHERE site_number = (SELECT number FROM rockpool_site WHERE site = ?)
         AND sequence = ? AND hash = ? AND watermark IS NOT NULL`,
      siteId,
      BigInt(sequence),
      hash,
    ) !== undefined
  );
}

/** Whether a changeset that was re-created from this one has been admitted. */
export function wasRecreated(sql: SqliteFile, { siteId, sequence, hash }: ChangesetOrigin): boolean {
  return (
    sql.get(
      `SELECT 1 FROM rockpool_origin WHERE site = ? AND sequence = ? AND hash = ?`,
      siteId,
      BigInt(sequence),
      hash,
    ) !== undefined
  );
}

/** Saves the origin of an admitted changeset in the transaction of the decision. */
export function saveOrigin(sql: SqliteFile, { siteId, sequence, hash }: ChangesetOrigin, decidedMs: number): void {
  sql.run(
    `INSERT INTO rockpool_origin (site, sequence, hash, decided_ms) VALUES (?, ?, ?, ?)`,
    siteId,
    BigInt(sequence),
    hash,
    BigInt(decidedMs),
  );
}

export function pruneOrigins(sql: SqliteFile, nowMs: number): void {
  sql.run(`DELETE FROM rockpool_origin WHERE decided_ms < ?`, BigInt(nowMs - ORIGIN_RETENTION_MS));
}

/** Whether any origin is stored. Cached, because each changeset asks and most databases have none. */
export class AnyOrigins {
  private readonly sql: SqliteFile;
  private known: boolean | null = null;

  constructor(sql: SqliteFile) {
    this.sql = sql;
  }

  get exist(): boolean {
    this.known ??= this.sql.get(`SELECT 1 FROM rockpool_origin LIMIT 1`) !== undefined;
    return this.known;
  }

  /** Call after `saveOrigin`, and when a transaction did not commit or another writer changed the file. */
  forget(): void {
    this.known = null;
  }
}
