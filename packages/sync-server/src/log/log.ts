import { FIRST_LOG_HASH } from '@rockpool/shared';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { LogEpoch } from './log-epoch.ts';
import { LogHashes } from './log-hash.ts';

export interface LogEntry {
  readonly watermark: number;
  readonly siteNumber: number;
  readonly sequence: number;
  /** The hash of the changeset. */
  readonly hash: Uint8Array;
  readonly stampUs: number;
  /**
   * The watermark up to which the merge treated the author as having seen the log. After a restore, it is lower than
   * the base that the changeset states. The author then counts as having seen no values (see isOfOlderEpoch).
   */
  readonly base: number;
  readonly isOfOlderEpoch: boolean;
  /** Whether the changeset, or one with the same origin, had taken effect before, so that this entry changes no row. */
  readonly isRepetition: boolean;
  readonly principal: string;
  readonly receivedMs: number;
}

/** The log of a database: one entry per admitted changeset, numbered by watermarks without gaps. */
export class Log {
  private readonly sql: SqliteFile;
  private readonly hashes: LogHashes;
  private end = { watermark: 0, maxStampUs: 0, logHash: FIRST_LOG_HASH };

  constructor(sql: SqliteFile, epoch: Pick<LogEpoch, 'id'>) {
    this.sql = sql;
    this.hashes = new LogHashes(sql, epoch);
    this.reload();
  }

  /** The newest watermark. Inside a transaction, it includes entries that are not committed yet; see reload. */
  get watermark(): number {
    return this.end.watermark;
  }

  append(entry: LogEntry): void {
    const { watermark, siteNumber, sequence, stampUs, principal, receivedMs } = entry;
    const maxStampUs = Math.max(this.end.maxStampUs, stampUs);
    const logHash = this.hashes.next(this.end.logHash, entry);
    this.sql.run(
      `INSERT INTO rockpool_log (watermark, site_number, sequence, stamp_us, max_stamp_us, principal, received_ms, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      BigInt(watermark),
      BigInt(siteNumber),
      BigInt(sequence),
      BigInt(stampUs),
      BigInt(maxStampUs),
      principal,
      BigInt(receivedMs),
      logHash,
    );
    this.end = { watermark, maxStampUs, logHash };
  }

  /** The highest corrected stamp up to a watermark, which a site with that cursor has seen. */
  maxStampUsAt(watermark: number): number {
    if (watermark === 0) return 0;
    if (watermark >= this.end.watermark) return this.end.maxStampUs;
    return Number(
      this.sql.get(`SELECT max_stamp_us FROM rockpool_log WHERE watermark = ?`, BigInt(watermark))?.[0] ?? 0n,
    );
  }

  /** The log hash at an existing watermark. A log that was restored and then diverged has a different hash. */
  hashAt(watermark: number): Uint8Array {
    if (watermark === 0) return FIRST_LOG_HASH;
    if (watermark === this.end.watermark) return this.end.logHash;
    return this.sql.get(`SELECT link FROM rockpool_log WHERE watermark = ?`, BigInt(watermark))?.[0] as Uint8Array;
  }

  /**
   * Whether the log once had this hash at this watermark, in the current log epoch. If so, the log has lost entries.
   */
  hasLost(watermark: number, logHash: Uint8Array): boolean {
    return this.hashes.isGenuine(watermark, logHash);
  }

  principalAt(watermark: number): string {
    return String(this.sql.get(`SELECT principal FROM rockpool_log WHERE watermark = ?`, BigInt(watermark))?.[0] ?? '');
  }

  /** Returns the sites with changesets admitted after a watermark, as 32 hex digits each. */
  authorsAfter(watermark: number): Set<string> {
    const rows = this.sql.all(
      `SELECT DISTINCT lower(hex(site)) FROM rockpool_log JOIN rockpool_site ON number = site_number WHERE watermark > ?`,
      BigInt(watermark),
    );
    return new Set(rows.map(([site]) => site as string));
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    this.hashes.reload();
    const last = this.sql.get(`SELECT watermark, max_stamp_us, link FROM rockpool_log ORDER BY watermark DESC LIMIT 1`);
    this.end = {
      watermark: Number(last?.[0] ?? 0n),
      maxStampUs: Number(last?.[1] ?? 0n),
      logHash: (last?.[2] ?? FIRST_LOG_HASH) as Uint8Array,
    };
  }
}
