import type { SqliteFile } from './sqlite-file.ts';

/** What a file says of itself. `epoch_start`: the watermark at which the epoch began; `floor`: see log/tombstones.ts; missing, either is 0. `own_site`: see backend/own-site.ts. */
export type MetaName = 'storage_format' | 'epoch' | 'epoch_start' | 'floor' | 'own_site' | 'schema';

export function readMeta(sql: SqliteFile, name: MetaName): unknown {
  return sql.get(`SELECT value FROM rockpool_meta WHERE name = ?`, name)?.[0];
}

export function writeMeta(sql: SqliteFile, name: MetaName, value: string | Uint8Array): void {
  sql.run(`INSERT INTO rockpool_meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, name, value);
}
