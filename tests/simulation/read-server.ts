import type { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import type { LedgerEntry } from './ledger-check.ts';
import type { LoggedStamp } from './stamp-check.ts';
import type { AskForTexts } from './table-texts.ts';

/** Queries the rows of the server. */
export function textsOnServer(sql: SqliteFile): AskForTexts {
  return (query) => (sql.get(query) ?? []) as readonly (string | null)[];
}

/** The server's log, read from its file. */
export function loggedStamps(sql: SqliteFile): LoggedStamp[] {
  const rows = sql.all(
    'SELECT watermark, lower(hex(site)), sequence, stamp_us FROM rockpool_log JOIN rockpool_site ON number = site_number ORDER BY watermark',
  );
  return rows.map(([watermark, site, sequence, stampUs]) => ({
    watermark: Number(watermark),
    site: String(site),
    sequence: Number(sequence),
    stampUs: Number(stampUs),
  }));
}

/** The conflict-log rows about whole columns. */
export function ledgerEntries(sql: SqliteFile): LedgerEntry[] {
  const rows = sql.all(
    'SELECT id, table_name, row_key, column_name, rule, lost_value, won_value, lost_by, won_by, lost_site, won_site, watermark FROM rockpool_conflict WHERE column_name IS NOT NULL AND path IS NULL ORDER BY id',
  );
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return rows.map(([id, table, rowKey, column, rule, lost, won, lostBy, wonBy, lostSite, wonSite, watermark]) => ({
    id: String(id),
    table: String(table),
    rowKey: String(rowKey),
    column: String(column),
    rule: String(rule),
    lost: text(lost),
    won: text(won),
    lostBy: String(lostBy),
    wonBy: String(wonBy),
    lostSite: String(lostSite),
    wonSite: String(wonSite),
    watermark: Number(watermark),
  }));
}
