import type { SqliteFile } from './sqlite-file.ts';

/**
 * What a file says of itself. `epoch_start`: the watermark at which the epoch began; `floor`: see log/tombstones.ts;
 * missing, either is 0. `epochs_before`: the ids of earlier epochs, one after the other. `own_site`: see
 * database/own-site.ts. `identity…`: see identity.ts.
 */
export type MetaName =
  | 'storage_format'
  | 'epoch'
  | 'epoch_start'
  | 'epochs_before'
  | 'floor'
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
