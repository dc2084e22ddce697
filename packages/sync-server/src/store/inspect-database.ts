import { statSync } from 'node:fs';
import { decodeSchema, quoteName, syncedTables, type Schema } from '@rockpool/shared';
import { identityOf } from './identity.ts';
import { readMeta } from '../sqlite/meta.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

export interface DatabaseSummary {
  /** In hex. Null in a file without an identity that no server has opened since. */
  readonly identity: string | null;
  readonly sizeBytes: number;
  readonly watermark: number;
  /** The number of sites that have written. */
  readonly sites: number;
  readonly schemaHash: string;
  readonly rowsByTable: Readonly<Record<string, number>>;
}

/** Reads facts about a database from its file, even while a server has it open. */
export function inspectDatabase(path: string): DatabaseSummary {
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    const schema = storedSchema(sql);
    const count = (from: string): number => Number(sql.get(`SELECT count(*) FROM ${from}`)?.[0]);
    return {
      identity: readMeta(sql, 'identity') === undefined ? null : Buffer.from(identityOf(sql)).toString('hex'),
      sizeBytes: statSync(path).size,
      watermark: Number(sql.get('SELECT max(watermark) FROM rockpool_log')?.[0] ?? 0n),
      sites: count('rockpool_site') - 1,
      schemaHash: schema.hash,
      rowsByTable: Object.fromEntries(syncedTables(schema).map(({ name }) => [name, count(quoteName(name))])),
    };
  } finally {
    sql.close();
  }
}

export function storedSchema(sql: SqliteFile): Schema {
  return decodeSchema(readMeta(sql, 'schema') as string);
}
