import { rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import {
  encodeKey,
  encodeSchema,
  FIRST_LOG_HASH,
  quoteName,
  syncedTables,
  SYSTEM_TABLES,
  tableToDdl,
  type CellValue,
  type ColumnSchema,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { deliveredText } from '../documents/document-store.ts';
import { storedSchema } from '../store/inspect-database.ts';
import { identityOf } from '../store/identity.ts';
import { readMeta } from '../sqlite/meta.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { toStoredTable, type StoredTable } from '../sqlite/stored-table.ts';
import { compressFile, createClientFile, type CompressedFile } from '../store/client-file.ts';

/** The facts in the snapshot's own table `rockpool_snapshot` and in the headers of its download. */
export interface SnapshotFacts extends CompressedFile {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /** The size of the uncompressed file. */
  readonly sizeBytes: number;
}

/**
 * Writes the state of a database at one watermark as a compressed SQLite file: the app's synced tables, Rockpool's
 * system tables, the states of documents, and the position in the log. Reads in a transaction of its own, so it does
 * not block writers. Takes seconds for a large database; run it in a worker.
 */
export async function writeSnapshot(from: string, to: string): Promise<SnapshotFacts> {
  const plain = `${to}.plain`;
  for (const path of [plain, to]) rmSync(path, { force: true });
  try {
    const facts = writePlainSnapshot(from, plain);
    const { size: sizeBytes } = statSync(plain);
    return { ...facts, sizeBytes, ...(await compressFile(plain, to)) };
  } catch (thrown) {
    // A partial file would keep the disk full.
    rmSync(to, { force: true });
    throw thrown;
  } finally {
    rmSync(plain, { force: true });
  }
}

/** Writes the same file without compression. */
export function writePlainSnapshot(from: string, to: string): Pick<SnapshotFacts, 'logEpoch' | 'watermark'> {
  const source = new SqliteFile(from, { readOnly: true });
  const target = createClientFile(to);
  try {
    source.exec('BEGIN');
    const schema = storedSchema(source);
    const logEpoch = readMeta(source, 'epoch') as Uint8Array;
    const [last = 0n, logHash = FIRST_LOG_HASH] =
      source.get('SELECT watermark, link FROM rockpool_log ORDER BY watermark DESC LIMIT 1') ?? [];
    const watermark = Number(last);
    target.exec('BEGIN');
    for (const table of [...SYSTEM_TABLES, ...syncedTables(schema)]) copyTable(source, target, table);
    copyDocuments(source, target);
    writeFacts(target, schema, { identity: identityOf(source), logEpoch, watermark, logHash: logHash as Uint8Array });
    target.exec('COMMIT');
    return { logEpoch: Buffer.from(logEpoch).toString('hex'), watermark };
  } finally {
    target.close();
    source.close();
  }
}

/** Copies rows in key order, which keeps the file compact, and creates indexes afterwards, which is faster. */
function copyTable(source: SqliteFile, target: DatabaseSync, table: TableSchema): void {
  const [create = '', ...indexes] = tableToDdl(table);
  target.exec(create);
  const stored = toStoredTable(table, false);
  const written = table.columns.filter(({ generated }) => generated === null);
  const columns = written.map(({ name }) => quoteName(name));
  const insert = target.prepare(
    `INSERT INTO ${quoteName(table.name)} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of source.rows(
    `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} ORDER BY ${table.primaryKey.map(quoteName).join(', ')}`,
  ))
    insert.run(...asDelivered(source, written, stored, row));
  for (const index of indexes) target.exec(index);
}

/** The row with the JSON of documents in the form that deliveries have. */
function asDelivered(
  source: SqliteFile,
  columns: readonly ColumnSchema[],
  table: StoredTable,
  row: readonly CellValue[],
): readonly CellValue[] {
  if (table.documents.size === 0) return row;
  const valueOf = new Map(columns.map(({ name }, index) => [name, row[index] ?? null]));
  const keyBytes = encodeKey(table.keys.map(({ name }) => valueOf.get(name) ?? null));
  return columns.map(({ id }, index) => deliveredText(source, { table, keyBytes, columnId: id }, row[index] ?? null));
}

function copyDocuments(source: SqliteFile, target: DatabaseSync): void {
  target.exec(
    'CREATE TABLE rockpool_document (table_id INTEGER NOT NULL, key BLOB NOT NULL, column_id INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (table_id, key, column_id)) WITHOUT ROWID',
  );
  const insert = target.prepare('INSERT INTO rockpool_document (table_id, key, column_id, state) VALUES (?, ?, ?, ?)');
  for (const row of source.rows('SELECT table_id, key, column_id, state FROM rockpool_document')) insert.run(...row);
}

/** Writes the identity of the database and the position in its log. For the log hash see Delivery. */
function writeFacts(
  target: DatabaseSync,
  schema: Schema,
  {
    identity,
    logEpoch,
    watermark,
    logHash,
  }: {
    readonly identity: Uint8Array;
    readonly logEpoch: Uint8Array;
    readonly watermark: number;
    readonly logHash: Uint8Array;
  },
): void {
  target.exec(
    'CREATE TABLE rockpool_snapshot (schema_json TEXT NOT NULL, schema_hash TEXT NOT NULL, epoch BLOB NOT NULL, watermark INTEGER NOT NULL, link BLOB NOT NULL, database_identity BLOB NOT NULL)',
  );
  target
    .prepare('INSERT INTO rockpool_snapshot VALUES (?, ?, ?, ?, ?, ?)')
    .run(encodeSchema(schema), schema.hash, logEpoch, BigInt(watermark), logHash, identity);
}
