import { holdWriterLock, writerLockName } from '../locks/storage-locks.ts';
import type { FileMedium, Medium } from '../media/medium.ts';
import { GuardedFile } from '../media/guarded-file.ts';
import { openReader } from '../open-reader.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import { checkStorageName, storageFileNames } from '../storage-name.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import { snapshotSource, streamOf } from './byte-source.ts';
import type { ByteSource } from './byte-source.ts';
import { finishInterruptedImport } from './finish-import.ts';

const LOOK_AGAIN_MS = 20;
const MOST_ATTEMPTS = 100;

/**
 * Streams the latest commit as the bytes of one plain SQLite file, for `new Response(stream).blob()` or
 * `stream.pipeTo(file)`. The stream is one snapshot, unaffected by a writer. It holds the files open, so read it to the
 * end or cancel it.
 *
 * A database that cannot be opened is exported too: a quarantined database is exported unchanged, with the part of its
 * log that can be read.
 *
 * Throws `storage-missing`, and `storage-busy` while the database is open on a medium for one opener at a time. There,
 * the tab that has it open exports it with `storage.exportFile()`. On other media it throws `storage-busy` only if a
 * writer leaves no moment in which its log can be read.
 */
export async function exportFile(name: string, medium: Medium): Promise<ReadableStream<Uint8Array>> {
  checkStorageName(name);
  return streamOf('openWriter' in medium ? await medium.openExport(name) : await openExport(name, medium));
}

async function openExport(name: string, medium: FileMedium): Promise<ByteSource> {
  if (medium.allowsReaders) return openBesideWriter(name, medium);
  const release = await holdWriterLock(medium.locks, name, 0);
  try {
    return releasedOnClose((await openLog(name, medium)) ?? (await openWithoutLog(name, medium)), release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Opens a snapshot even while a writer works, starts or closes. */
async function openBesideWriter(name: string, medium: FileMedium): Promise<ByteSource> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const snapshot = await openLog(name, medium);
    if (snapshot !== undefined) return snapshot;
    const alone = await openWithoutWriter(name, medium);
    if (alone !== undefined) return alone;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new StorageError('storage-busy', { name, holder: 'a writer' });
}

/** Returns `undefined` while there is a writer. */
async function openWithoutWriter(name: string, medium: FileMedium): Promise<ByteSource | undefined> {
  const release = await medium.locks.request(writerLockName(name), 'exclusive', 0);
  if (release === undefined) return undefined;
  try {
    // The writer may have closed since the log was read.
    const snapshot = await openLog(name, medium);
    if (snapshot === undefined) return releasedOnClose(await openWithoutLog(name, medium), release);
    release();
    return snapshot;
  } catch (error) {
    release();
    throw error;
  }
}

/** Returns `undefined` if the log cannot be read, which may be due to a writer that swaps its segments meanwhile. */
async function openLog(name: string, medium: FileMedium): Promise<ByteSource | undefined> {
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
    const isUnreadable =
      error instanceof StorageError && (error.code === 'storage-missing' || error.code === 'storage-snapshot-lost');
    if (isUnreadable) return undefined;
    throw error;
  }
}

/**
 * Opens a database file without a valid log: just imported, or with a log that cannot be read. Finishes an interrupted
 * import, because the file is a mix of two databases until then; it stays one if the staged file is missing. The caller
 * holds the writer's lock, because a writer changes the file.
 */
async function openWithoutLog(name: string, medium: FileMedium): Promise<ByteSource> {
  try {
    await finishInterruptedImport(name, medium).catch((error: unknown) => {
      if (!(error instanceof StorageError && error.code === 'storage-corrupt')) throw error;
    });
    const opened = await medium.open(storageFileNames(name)[0], false);
    if (opened === undefined) throw new StorageError('storage-missing', { name });
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
