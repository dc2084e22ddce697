import { FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import type { SqliteFile, SqlRow } from '../sqlite/sqlite-file.ts';

/** The server's state for one site. */
export interface SiteState {
  readonly number: number;
  /** 32 hex digits. */
  readonly site: string;
  readonly principal: string;
  readonly lastSequence: number;
  readonly lastHash: Uint8Array;
  readonly lastStampUs: number;
  readonly confirmedCursor: number;
  readonly confirmedSequence: number;
  readonly confirmedWatermark: number;
}

/** A principal proved possession of the file of another principal's site, and became its owner. */
export interface Takeover {
  readonly by: string;
  readonly atMs: number;
}

const COLUMNS =
  'number, site, principal, last_sequence, last_hash, last_stamp_us, confirmed_cursor, confirmed_sequence, confirmed_watermark';

/** The sites that have written to a database. A site that only reads has no entry. */
export class Sites {
  private readonly sql: SqliteFile;
  // Cached in both directions, because row versions contain the number of a site and comparisons need its id.
  private readonly siteByNumber = new Map<number, string>();
  private readonly numberBySite = new Map<string, number>();
  /** The last takeover of each site since the file was opened. */
  readonly takeovers: Map<string, Takeover> = new Map();

  constructor(sql: SqliteFile) {
    this.sql = sql;
  }

  get(site: string): SiteState | undefined {
    const row = this.sql.get(`SELECT ${COLUMNS} FROM rockpool_site WHERE site = ?`, Buffer.from(site, 'hex'));
    return row === undefined ? undefined : rowToSite(row);
  }

  create(site: string, principal: string): SiteState {
    this.sql.run(
      `INSERT INTO rockpool_site (site, principal, last_sequence, last_hash, last_stamp_us, confirmed_cursor, confirmed_sequence, confirmed_watermark)
       VALUES (?, ?, 0, ?, 0, 0, 0, 0)`,
      Buffer.from(site, 'hex'),
      principal,
      FIRST_PREVIOUS_HASH,
    );
    return this.get(site) as SiteState;
  }

  /** The number of sites whose last writer is this principal. */
  countOf(principal: string): number {
    return Number(this.sql.get(`SELECT count(*) FROM rockpool_site WHERE principal = ?`, principal)?.[0] ?? 0n);
  }

  /** Removes a site to which nothing refers yet. */
  remove({ number, site }: SiteState): void {
    this.sql.run(`DELETE FROM rockpool_site WHERE number = ?`, BigInt(number));
    // Removes the site from the cache, because the next one may have the same number.
    this.siteByNumber.delete(number);
    this.numberBySite.delete(site);
  }

  save(state: SiteState): void {
    this.sql.run(
      `UPDATE rockpool_site SET principal = ?, last_sequence = ?, last_hash = ?, last_stamp_us = ?,
         confirmed_cursor = ?, confirmed_sequence = ?, confirmed_watermark = ? WHERE number = ?`,
      state.principal,
      BigInt(state.lastSequence),
      state.lastHash,
      BigInt(state.lastStampUs),
      BigInt(state.confirmedCursor),
      BigInt(state.confirmedSequence),
      BigInt(state.confirmedWatermark),
      BigInt(state.number),
    );
  }

  siteOf(siteNumber: number): string {
    const known = this.siteByNumber.get(siteNumber);
    if (known !== undefined) return known;
    const row = this.sql.get(`SELECT site FROM rockpool_site WHERE number = ?`, BigInt(siteNumber));
    if (row === undefined) throw new Error(`no site has the number ${siteNumber}`);
    return this.remember(Buffer.from(row[0] as Uint8Array).toString('hex'), siteNumber);
  }

  numberOf(site: string): number {
    const known = this.numberBySite.get(site);
    if (known !== undefined) return known;
    const row = this.sql.get(`SELECT number FROM rockpool_site WHERE site = ?`, Buffer.from(site, 'hex'));
    if (row === undefined) throw new Error(`no number is stored for the site ${site}`);
    const siteNumber = Number(row[0]);
    this.remember(site, siteNumber);
    return siteNumber;
  }

  /** Clears the cache after a transaction that did not commit, because its site numbers may be assigned again. */
  reload(): void {
    this.siteByNumber.clear();
    this.numberBySite.clear();
  }

  private remember(site: string, siteNumber: number): string {
    this.siteByNumber.set(siteNumber, site);
    this.numberBySite.set(site, siteNumber);
    return site;
  }
}

function rowToSite(row: SqlRow): SiteState {
  return {
    number: Number(row[0]),
    site: Buffer.from(row[1] as Uint8Array).toString('hex'),
    principal: row[2] as string,
    lastSequence: Number(row[3]),
    lastHash: row[4] as Uint8Array,
    lastStampUs: Number(row[5]),
    confirmedCursor: Number(row[6]),
    confirmedSequence: Number(row[7]),
    confirmedWatermark: Number(row[8]),
  };
}
