import { isErrorCode, type ErrorFields, type Outcome } from '@rockpool/shared';
import type { SqliteFile, SqlRow } from '../sqlite/sqlite-file.ts';
import { decodeCorrected, encodeCorrected, type CorrectedRow } from './corrected-codec.ts';
import type { SiteState } from './sites.ts';

/**
 * How long the hash of a decided changeset is kept. It lets the server tell a copied site which of its changesets
 * differ from those that the server knows. Later, a copy is still detected by the hash of the last changeset.
 */
const HASH_RETENTION_MS = 30 * 24 * 3600 * 1000;

export interface StoredOutcome {
  readonly outcome: Outcome;
  /** Cells in which the author's copy differs from the server. */
  readonly corrected: readonly CorrectedRow[];
}

/**
 * Saves an outcome in the transaction of the decision, so that the first decision counts however often the changeset is
 * sent.
 */
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

/** Returns the outcomes after `sequence`, in order. */
export function outcomesAfter(sql: SqliteFile, siteNumber: number, sequence: number): StoredOutcome[] {
  return sql
    .all(
      `SELECT sequence, watermark, loss_count, error_code, error_fields, corrected FROM rockpool_outcome WHERE site_number = ? AND sequence > ? ORDER BY sequence`,
      BigInt(siteNumber),
      BigInt(sequence),
    )
    .map(rowToOutcome);
}

/** Returns the hash of a decided changeset, or null if it has been pruned. */
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
 * Returns the watermark of the site's last admitted changeset up to `sequence`, or 0 if there is none. Reads only
 * unconfirmed outcomes, because a site may have thousands of confirmed ones.
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

/** Prunes the details of outcomes that the site has stored durably. Returns the new state of the site. */
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
 * Deletes the hashes of confirmed changesets after their retention time. Those of a clock that was ahead would keep the
 * ones behind them: they are deleted together with a later one.
 */
export function pruneOldHashes(sql: SqliteFile, { number, confirmedSequence }: SiteState, nowMs: number): void {
  sql.run(
    // One bound that is known before the delete, so that SQLite reads only the rows that it deletes.
    `DELETE FROM rockpool_outcome WHERE site_number = ?1 AND sequence <=
       (SELECT sequence FROM rockpool_outcome WHERE site_number = ?1 AND decided_ms < ?3 AND sequence < min(?2 + 1, ifnull(
          (SELECT sequence FROM rockpool_outcome WHERE site_number = ?1 AND decided_ms BETWEEN ?3 AND ?4 ORDER BY sequence LIMIT 1), ?2 + 1))
        ORDER BY sequence DESC LIMIT 1)`,
    BigInt(number),
    BigInt(confirmedSequence),
    BigInt(nowMs - HASH_RETENTION_MS),
    BigInt(nowMs),
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
