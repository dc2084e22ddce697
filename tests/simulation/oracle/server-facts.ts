import { decodeKey, encodeKey } from '#shared/index.ts';
import type { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import {
  keyOf,
  linesOf,
  ORACLE_TABLES,
  rowNameOf,
  tableOf,
  toLiteral,
  unquoted,
  type Literal,
  type TableTexts,
} from './tables.ts';

/** A row of the server's log. */
export interface LogEntry {
  readonly watermark: number;
  readonly site: string;
  readonly sequence: number;
  readonly stampUs: number;
  readonly hash: string;
}

export interface Rejection {
  readonly site: string;
  readonly sequence: number;
  readonly code: string;
}

export function newRejections(sql: SqliteFile, known: ReadonlySet<string>): Rejection[] {
  return sql
    .all(
      'SELECT lower(hex(site)), sequence, error_code FROM rockpool_outcome JOIN rockpool_site ON number = site_number WHERE error_code IS NOT NULL',
    )
    .map(([site, sequence, code]) => ({ site: String(site), sequence: Number(sequence), code: String(code) }))
    .filter(({ site, sequence }) => !known.has(`${site} ${sequence}`));
}

export function logAfter(sql: SqliteFile, watermark: number): LogEntry[] {
  return sql
    .all(
      'SELECT watermark, lower(hex(site)), sequence, stamp_us, hex(link) FROM rockpool_log JOIN rockpool_site ON number = site_number WHERE watermark > ? ORDER BY watermark',
      BigInt(watermark),
    )
    .map(([at, site, sequence, stampUs, hash]) => ({
      watermark: Number(at),
      site: String(site),
      sequence: Number(sequence),
      stampUs: Number(stampUs),
      hash: String(hash),
    }));
}

export function hashAt(sql: SqliteFile, watermark: number): string | null {
  const hash = sql.get('SELECT hex(link) FROM rockpool_log WHERE watermark = ?', BigInt(watermark))?.[0];
  return hash === undefined ? null : String(hash);
}

export function marksOf(texts: TableTexts): ReadonlySet<string> {
  return new Set(linesOf(texts.get('mark') ?? '').map((line) => unquoted(line.split('\u001f')[0] as Literal) ?? ''));
}

export interface ActualEntry {
  readonly id: string;
  readonly table: string;
  readonly rowKey: string;
  readonly column: string | null;
  readonly path: string | null;
  readonly rule: string;
  readonly lost: Literal;
  readonly won: Literal;
  readonly lostBy: string;
  readonly wonBy: string;
  readonly lostSite: string;
  readonly wonSite: string;
  readonly lostAtMs: number;
  readonly wonAtMs: number;
  readonly watermark: number;
}

export function entriesOf(sql: SqliteFile): ActualEntry[] {
  return sql
    .all(
      'SELECT id, table_name, row_key, column_name, path, rule, quote(lost_value), quote(won_value), lost_by, won_by, lost_site, won_site, lost_at_ms, won_at_ms, watermark FROM rockpool_conflict ORDER BY id',
    )
    .map((row) => {
      const text = (index: number): string => String(row[index]);
      const textOrNull = (index: number): string | null => (row[index] === null ? null : String(row[index]));
      return {
        id: text(0),
        table: text(1),
        rowKey: text(2),
        column: textOrNull(3),
        path: textOrNull(4),
        rule: text(5),
        lost: text(6),
        won: text(7),
        lostBy: text(8),
        wonBy: text(9),
        lostSite: text(10),
        wonSite: text(11),
        lostAtMs: Number(row[12]),
        wonAtMs: Number(row[13]),
        watermark: Number(row[14]),
      };
    });
}

/** The names of the rows that commits after `watermark` have deleted, or found deleted. */
export function tombstonesAfter(sql: SqliteFile, watermark: number): string[] {
  return [...ORACLE_TABLES.values()].flatMap((table) =>
    sql
      .all(
        'SELECT key FROM rockpool_row_version WHERE table_id = ? AND image IS NOT NULL AND watermark > ?',
        BigInt(table.id),
        BigInt(watermark),
      )
      .map(([key]) => rowNameOf(table, decodeKey(key as Uint8Array).map(toLiteral))),
  );
}

/** The names of the deleted rows that the server still knows. */
export class KeptTombstones {
  private readonly kept: ReadonlySet<string>;

  constructor(sql: SqliteFile) {
    const rows = sql.all('SELECT table_id, hex(key) FROM rockpool_row_version WHERE image IS NOT NULL');
    this.kept = new Set(rows.map(([id, key]) => `${String(id)} ${String(key)}`));
  }

  has(row: string): boolean {
    const key = encodeKey(keyOf(row).map((part) => unquoted(part) ?? BigInt(part)));
    return this.kept.has(`${tableOf(row).id} ${Buffer.from(key).toString('hex').toUpperCase()}`);
  }
}
