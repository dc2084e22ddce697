import type { SqliteFile } from './sqlite-file.ts';

/**
 * Facts that a database file stores about itself. `epoch_start` is the watermark at which the log epoch began, and
 * `floor` the tombstone horizon (log/tombstones.ts); either is 0 if missing. `epochs_before` holds the ids of earlier
 * log epochs, concatenated. `history_horizons`: see log/history-horizons.ts. `column_births`: see log/column-births.ts.
 * `log_secret`: see log/log-hash.ts. `own_site`: see database/own-site.ts. `identity…`: see store/identity.ts.
 */
export type MetaName =
  | 'storage_format'
  | 'epoch'
  | 'epoch_start'
  | 'epochs_before'
  | 'floor'
  | 'history_horizons'
  | 'column_births'
  | 'log_secret'
  | 'own_site'
  | 'schema'
  | 'identity'
  | 'identity_of'
  | 'identity_start';

export function readMeta(sql: SqliteFile, name: MetaName): unknown {
  return sql.get(`SELECT value FROM rockpool_meta WHERE name = ?`, name)?.[0];
}

export function writeMeta(sql: SqliteFile, name: MetaName, value: string | Uint8Array): void {
  sql.run(
    `INSERT INTO rockpool_meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
    name,
    value,
  );
}
