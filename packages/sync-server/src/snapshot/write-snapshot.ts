import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatabaseSync } from 'node:sqlite';
import { createGzip } from 'node:zlib';
import {
  encodeSchema,
  FIRST_LOG_HASH,
  quoteName,
  syncedTables,
  SYSTEM_TABLES,
  tableToDdl,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { storedSchema } from '../store/inspect-database.ts';
import { identityOf } from '../store/identity.ts';
import { readMeta } from '../sqlite/meta.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

/** What stands in the file's own table `rockpool_snapshot`, and in the headers of its download. */
export interface SnapshotFacts {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /** Of the file as it is after unpacking. */
  readonly sizeBytes: number;
  readonly compressedBytes: number;
  /** Of the compressed bytes, hex. */
  readonly sha256: string;
}

/** As clients have it: the file is written into their storage as it is. */
const PAGE_SIZE_BYTES = 8192;

/** Measured with rows of random keys: level 6 takes twice the time of 4 and saves 3 %. */
const GZIP_LEVEL = 4;

/**
 * Writes the state of a database at one watermark as a compressed SQLite file: the app's synced tables, Rockpool's
 * system tables, the states of documents, and where in the log it is. Reads in one transaction of its own, so writers
 * go on meanwhile. Takes seconds for large databases: meant for a worker.
 */
export async function writeSnapshot(from: string, to: string): Promise<SnapshotFacts> {
  const plain = `${to}.plain`;
  for (const path of [plain, to]) rmSync(path, { force: true });
  try {
    const facts = writePlainSnapshot(from, plain);
    const { size: sizeBytes } = statSync(plain);
    return { ...facts, sizeBytes, ...(await compress(plain, to)) };
  } catch (thrown) {
    // Half a file on a full disk would keep it full.
    rmSync(to, { force: true });
    throw thrown;
  } finally {
    rmSync(plain, { force: true });
  }
}

/** The same without compressing it. */
export function writePlainSnapshot(from: string, to: string): Pick<SnapshotFacts, 'logEpoch' | 'watermark'> {
  const source = new SqliteFile(from, { readOnly: true });
  const target = new DatabaseSync(to);
  try {
    // Nobody reads this file before it is complete, and one that is not is thrown away.
    target.exec(
      `PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF`,
    );
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

/** In order of the key, so that the file is as compact as it gets; indexes after the rows, which is faster. */
function copyTable(source: SqliteFile, target: DatabaseSync, table: TableSchema): void {
  const [create = '', ...indexes] = tableToDdl(table);
  target.exec(create);
  const columns = table.columns.filter(({ generated }) => generated === null).map(({ name }) => quoteName(name));
  const insert = target.prepare(
    `INSERT INTO ${quoteName(table.name)} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of source.rows(
    `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} ORDER BY ${table.primaryKey.map(quoteName).join(', ')}`,
  ))
    insert.run(...row);
  for (const index of indexes) target.exec(index);
}

function copyDocuments(source: SqliteFile, target: DatabaseSync): void {
  target.exec(
    'CREATE TABLE rockpool_document (table_id INTEGER NOT NULL, key BLOB NOT NULL, column_id INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (table_id, key, column_id)) WITHOUT ROWID',
  );
  const insert = target.prepare('INSERT INTO rockpool_document (table_id, key, column_id, state) VALUES (?, ?, ?, ?)');
  for (const row of source.rows('SELECT table_id, key, column_id, state FROM rockpool_document')) insert.run(...row);
}

/** Which database the rows are of, and where in its log they are; see Delivery for the link. */
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

async function compress(from: string, to: string): Promise<Pick<SnapshotFacts, 'compressedBytes' | 'sha256'>> {
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(from), createGzip({ level: GZIP_LEVEL }), hashing, createWriteStream(to));
  return { compressedBytes: statSync(to).size, sha256: hash.digest('hex') };
}
