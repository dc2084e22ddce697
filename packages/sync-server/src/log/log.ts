import type { SqliteFile } from '../store/sqlite-file.ts';

export interface LogEntry {
  readonly watermark: number;
  readonly siteNumber: number;
  readonly sequence: number;
  readonly stampUs: number;
  readonly principal: string;
  readonly receivedMs: number;
}

/** The order of a database: one line per admitted changeset, numbered by watermarks without gaps. */
export class Log {
  private readonly sql: SqliteFile;
  private end = { watermark: 0, maxStampUs: 0 };

  constructor(sql: SqliteFile) {
    this.sql = sql;
    this.reload();
  }

  /** The newest watermark. Inside a transaction that is not committed it runs ahead; see reload. */
  get watermark(): number {
    return this.end.watermark;
  }

  append({ watermark, siteNumber, sequence, stampUs, principal, receivedMs }: LogEntry): void {
    const maxStampUs = Math.max(this.end.maxStampUs, stampUs);
    this.sql.run(
      `INSERT INTO rockpool_log (watermark, site_number, sequence, stamp_us, max_stamp_us, principal, received_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      BigInt(watermark),
      BigInt(siteNumber),
      BigInt(sequence),
      BigInt(stampUs),
      BigInt(maxStampUs),
      principal,
      BigInt(receivedMs),
    );
    this.end = { watermark, maxStampUs };
  }

  /** The highest corrected stamp up to a watermark: what whoever is there has seen. */
  maxStampUsAt(watermark: number): number {
    if (watermark === 0) return 0;
    if (watermark >= this.end.watermark) return this.end.maxStampUs;
    return Number(this.sql.get(`SELECT max_stamp_us FROM rockpool_log WHERE watermark = ?`, BigInt(watermark))?.[0] ?? 0n);
  }

  principalAt(watermark: number): string {
    return String(this.sql.get(`SELECT principal FROM rockpool_log WHERE watermark = ?`, BigInt(watermark))?.[0] ?? '');
  }

  /** Back to what is stored, after a transaction that did not commit. */
  reload(): void {
    const last = this.sql.get(`SELECT watermark, max_stamp_us FROM rockpool_log ORDER BY watermark DESC LIMIT 1`);
    this.end = { watermark: Number(last?.[0] ?? 0n), maxStampUs: Number(last?.[1] ?? 0n) };
  }
}
