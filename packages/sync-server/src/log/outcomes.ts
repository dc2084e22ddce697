import { isErrorCode, type ErrorFields, type Outcome } from '@rockpool/shared';
import type { SqliteFile, SqlRow } from '../sqlite/sqlite-file.ts';
import { decodeCorrected, encodeCorrected, type CorrectedRow } from './corrected-codec.ts';
import type { SiteState } from './sites.ts';

/**
 * The hash of a decided changeset is kept this long, so that a copy of its site's file is told which of its changesets
 * the server knows otherwise. A copy that comes later is still noticed, by the hash of the last one.
 */
const HASH_RETENTION_MS = 30 * 24 * 3600 * 1000;

export interface StoredOutcome {
  readonly outcome: Outcome;
  /** Cells that the author's copy has otherwise than the server. */
  readonly corrected: readonly CorrectedRow[];
}

/** Kept in the transaction that decides, so that the first decision stands however often the changeset is sent. */
export function saveOutcome(
  sql: SqliteFile,
  siteNumber: number,
  hash: Uint8Array,
  { outcome, corrected }: StoredOutcome,
  decidedMs: number,
): void {
  const admitted = outcome.kind === 'admitted';
  sql.run(
    `INSERT INTO rockpool_outcome (site_number, sequence, hash, watermark, loss_count, error_code, error_fields, corrected, decided_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    BigInt(siteNumber),
    BigInt(outcome.sequence),
    hash,
    admitted ? BigInt(outcome.watermark) : null,
    admitted ? BigInt(outcome.conflictCount) : null,
    admitted ? null : outcome.code,
    admitted ? null : JSON.stringify(outcome.fields),
    corrected.length === 0 ? null : encodeCorrected(corrected),
    BigInt(decidedMs),
  );
}

/** What the site has not been told yet, in order. */
export function outcomesAfter(sql: SqliteFile, siteNumber: number, sequence: number): StoredOutcome[] {
  return sql
    .all(
      `SELECT sequence, watermark, loss_count, error_code, error_fields, corrected FROM rockpool_outcome WHERE site_number = ? AND sequence > ? ORDER BY sequence`,
      BigInt(siteNumber),
      BigInt(sequence),
    )
    .map(rowToOutcome);
}

/** The hash of a decided changeset, where it is still known. */
export function decidedHash(sql: SqliteFile, site: SiteState, sequence: number): Uint8Array | null {
  if (sequence === site.lastSequence) return site.lastHash;
  const row = sql.get(
    `SELECT hash FROM rockpool_outcome WHERE site_number = ? AND sequence = ?`,
    BigInt(site.number),
    BigInt(sequence),
  );
  return row === undefined ? null : (row[0] as Uint8Array);
}

/**
 * The watermark of the site's last admitted changeset up to `sequence`; 0: none. Reads what is not confirmed: a site
 * may have thousands of lines before that.
 */
export function admittedWatermarkUpTo(sql: SqliteFile, site: SiteState, sequence: number): number {
  const row = sql.get(
    `SELECT max(watermark) FROM rockpool_outcome WHERE site_number = ? AND sequence > ? AND sequence <= ?`,
    BigInt(site.number),
    BigInt(site.confirmedSequence),
    BigInt(sequence),
  );
  return Math.max(site.confirmedWatermark, Number(row?.[0] ?? 0n));
}

/** The site has these outcomes durably: forgets all of them but their hashes. Returns the site as it is then. */
export function confirmOutcomes(
  sql: SqliteFile,
  site: SiteState,
  cursor: number,
  lastAckedSequence: number,
): SiteState {
  const confirmedSequence = Math.max(site.confirmedSequence, Math.min(lastAckedSequence, site.lastSequence));
  const confirmed: SiteState = {
    ...site,
    confirmedCursor: Math.max(site.confirmedCursor, cursor),
    confirmedSequence,
    confirmedWatermark: admittedWatermarkUpTo(sql, site, confirmedSequence),
  };
  sql.run(
    `UPDATE rockpool_outcome SET error_fields = NULL, corrected = NULL WHERE site_number = ? AND sequence > ? AND sequence <= ?`,
    BigInt(site.number),
    BigInt(site.confirmedSequence),
    BigInt(confirmedSequence),
  );
  return confirmed;
}

/**
 * Forgets the hashes of confirmed changesets that were decided too long ago. Reads no more lines than it deletes, and
 * one.
 */
export function forgetOldHashes(sql: SqliteFile, { number, confirmedSequence }: SiteState, nowMs: number): void {
  sql.run(
    // One bound: of two SQLite would take the first to find lines by, and read all of them to compare them with the
    // other.
    `DELETE FROM rockpool_outcome WHERE site_number = ?1 AND sequence < min(?2 + 1, ifnull(
       (SELECT sequence FROM rockpool_outcome WHERE site_number = ?1 AND decided_ms >= ?3 ORDER BY sequence LIMIT 1), ?2 + 1))`,
    BigInt(number),
    BigInt(confirmedSequence),
    BigInt(nowMs - HASH_RETENTION_MS),
  );
}

function rowToOutcome(row: SqlRow): StoredOutcome {
  const sequence = Number(row[0]);
  const corrected = row[5] === null ? [] : decodeCorrected(row[5] as Uint8Array);
  if (row[1] !== null)
    return {
      outcome: { kind: 'admitted', sequence, watermark: Number(row[1]), conflictCount: Number(row[2]) },
      corrected,
    };
  const code = isErrorCode(row[3]) ? row[3] : 'internal';
  return {
    outcome: { kind: 'rejected', sequence, code, fields: JSON.parse(row[4] as string) as ErrorFields },
    corrected,
  };
}
