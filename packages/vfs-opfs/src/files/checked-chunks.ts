import { SQLITE_HEADER_BYTES, checkSqliteHeader, clearWalMode, readSqliteHeader } from '../sqlite-file-header.ts';
import { StorageError } from '../storage-error.ts';

export type ImportSource = Blob | ReadableStream<Uint8Array>;

/**
 * Streams the chunks of a file to import, checking the header first. Throws `storage-corrupt` at the first chunk when
 * the file is not a SQLite database, and at the end when it is truncated.
 */
export async function* checkedChunks(source: ImportSource): AsyncGenerator<Uint8Array, void, undefined> {
  const header = new Uint8Array(SQLITE_HEADER_BYTES);
  let sizeBytes = 0;
  for await (const chunk of chunksOf(source)) {
    if (sizeBytes >= SQLITE_HEADER_BYTES) {
      sizeBytes += chunk.length;
      yield chunk;
      continue;
    }
    const missing = chunk.subarray(0, SQLITE_HEADER_BYTES - sizeBytes);
    header.set(missing, sizeBytes);
    sizeBytes += missing.length;
    if (sizeBytes < SQLITE_HEADER_BYTES) continue;
    readSqliteHeader(header);
    clearWalMode(header);
    yield header.slice();
    sizeBytes += chunk.length - missing.length;
    yield chunk.subarray(missing.length);
  }
  const { pageSizeBytes } = checkSqliteHeader(header, sizeBytes);
  if (sizeBytes % pageSizeBytes !== 0)
    throw new StorageError('storage-corrupt', {
      what: "the file's size is not a multiple of its page size",
      sizeBytes,
      pageSizeBytes,
    });
}

/** Not every browser supports iterating a stream directly. */
async function* chunksOf(source: ImportSource): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = (source instanceof Blob ? source.stream() : source).getReader();
  let isDone = false;
  try {
    for (;;) {
      const next = await reader.read();
      isDone = next.done;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // The consumer stopped early. Cancelling notifies the sender.
    if (!isDone) await reader.cancel().catch(() => undefined);
  }
}
