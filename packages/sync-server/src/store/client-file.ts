import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** The page size of clients, which write the file into their storage unchanged. */
const PAGE_SIZE_BYTES = 8192;

/**
 * Creates a SQLite file for clients. It needs no durability: it is read only when complete, and an incomplete file is
 * deleted.
 */
export function createClientFile(path: string): DatabaseSync {
  const file = new DatabaseSync(path);
  file.exec(
    `PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF`,
  );
  return file;
}

/** Level 6 takes twice the time of 4 and saves 3 %, measured with rows of random keys. */
const GZIP_LEVEL = 4;

export interface CompressedFile {
  readonly compressedBytes: number;
  /** The SHA-256 of the compressed bytes, as hex. */
  readonly sha256: string;
}

export async function compressFile(from: string, to: string): Promise<CompressedFile> {
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
