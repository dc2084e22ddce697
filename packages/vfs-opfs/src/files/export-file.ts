import { holdWriterLock } from '../locks/storage-locks.ts';
import type { FileMedium, Medium } from '../media/medium.ts';
import { GuardedFile } from '../media/guarded-file.ts';
import { openReader } from '../open-reader.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import { checkStorageName, storageFileNames } from '../storage-name.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import { snapshotSource, streamOf } from './byte-source.ts';
import type { ByteSource } from './byte-source.ts';

/**
 * Streams the latest commit as the bytes of one plain SQLite file, for `new Response(stream).blob()` or
 * `stream.pipeTo(file)`. The stream is one snapshot, unaffected by a writer. It holds the files open, so read it to the
 * end or cancel it.
 *
 * A database that cannot be opened is exported too: a quarantined database comes as it is, with the part of its log
 * that can be read.
 *
 * Throws `storage-missing`, and `storage-busy` while the database is open on a medium for one opener at a time. There
 * the opener exports it with `storage.exportFile()`.
 */
export async function exportFile(name: string, medium: Medium): Promise<ReadableStream<Uint8Array>> {
  checkStorageName(name);
  return streamOf('openWriter' in medium ? await medium.openExport(name) : await openExport(name, medium));
}

async function openExport(name: string, medium: FileMedium): Promise<ByteSource> {
  if (medium.allowsReaders) return openSnapshot(name, medium);
  const release = await holdWriterLock(medium.locks, name, 0);
  try {
    return releasedOnClose(await openSnapshot(name, medium), release);
  } catch (error) {
    release();
    throw error;
  }
}

async function openSnapshot(name: string, medium: FileMedium): Promise<ByteSource> {
  try {
    return await snapshotSource(
      await openReader({
        name,
        medium,
        timeoutMs: 0,
        tuning: { ...DEFAULT_TUNING, poolSizeBytes: 0 },
        onError: () => undefined,
      }),
    );
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'storage-missing') throw error;
    const plain = await openWithoutLog(name, medium);
    if (plain === undefined) throw error;
    return plain;
  }
}

/** Opens a database file without a valid log: just imported, or with a log that cannot be read. */
async function openWithoutLog(name: string, medium: FileMedium): Promise<ByteSource | undefined> {
  try {
    const opened = await medium.open(storageFileNames(name)[0], false);
    if (opened === undefined) return undefined;
    const file = new GuardedFile(opened);
    return {
      sizeBytes: file.sizeBytes(),
      read: (into, at) => file.readOrZeros(into, at),
      close: async () => file.close(),
    };
  } catch (cause) {
    throw errorFromMedium(cause, 'open');
  }
}

function releasedOnClose(source: ByteSource, release: () => void): ByteSource {
  return {
    ...source,
    async close() {
      await source.close();
      release();
    },
  };
}
