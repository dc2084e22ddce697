import { buildSchema, encodeSchema, syncedTables, type Schema, type TableSchema } from '@rockpool/shared';
import { INTERNAL_DDL, STORAGE_FORMAT } from '../file/internal-tables.ts';
import { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';
import { readSnapshotFacts } from './snapshot-facts.ts';

const SITE_ID_BYTES = 16;

/**
 * Turns a snapshot's file, which has the synced tables, the system tables and the states of documents, into a database
 * of this device: adds the internal tables and sets the cursor to the snapshot's position. Opening the database adds
 * local tables, plain indexes and search indexes, as for a newer schema. Throws `schema-mismatch` for rows of a
 * different schema.
 */
export function adoptSnapshot(
  connection: Connection,
  schema: Schema,
  randomBytes: (count: number) => Uint8Array,
): void {
  const { schema: stored, databaseIdentity, logEpoch, watermark, logHash } = readSnapshotFacts(connection, schema);
  connection.exec(
    'BEGIN; DROP TABLE rockpool_snapshot; ALTER TABLE rockpool_document RENAME TO rockpool_snapshot_document',
  );
  for (const sql of INTERNAL_DDL) connection.exec(sql);
  connection.exec(
    'INSERT INTO rockpool_document SELECT table_id, key, column_id, state FROM rockpool_snapshot_document; DROP TABLE rockpool_snapshot_document',
  );
  const meta = new Meta(connection);
  meta.set('storage_format', STORAGE_FORMAT);
  meta.set('site_id', randomBytes(SITE_ID_BYTES));
  meta.set('schema_json', encodeSchema(buildSchema(syncedTables(stored).map(withoutSearchIndexes))));
  meta.set('schema_hash', stored.hash);
  meta.set('database_identity', databaseIdentity);
  meta.set('log_epoch', logEpoch);
  meta.set('cursor', watermark);
  meta.set('cursor_link', logHash);
  connection.exec('COMMIT');
}

function withoutSearchIndexes({ searchIndexes: _searchIndexes, ...table }: TableSchema): TableSchema {
  return table;
}
