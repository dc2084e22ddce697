import { LastFailure } from '../last-failure.ts';
import { createStorage } from '../opened-storage.ts';
import { openWriter } from '../open-writer.ts';
import { memoryMedium } from '../media/memory.ts';
import type { FileMedium, Medium } from '../media/medium.ts';
import { errorFromMedium } from '../storage-error.ts';
import { checkStorageName, stagedName } from '../storage-name.ts';
import type { Storage } from '../storage.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import type { ImportSource } from './checked-chunks.ts';
import { removeStaged } from './replace-database.ts';
import { assertRoom } from './room.ts';
import { writeStaged } from './write-staged.ts';

/** A worker that was ended a moment ago may still have the last one. */
const LOCK_TIMEOUT_MS = 3000;

export interface StageOptions {
  /** The database that the file is put beside. Only whoever writes to it may do this. */
  readonly name: string;
  readonly medium: Medium;
  /** A plain SQLite file. */
  readonly source: ImportSource;
  readonly sizeBytes: number;
}

/** A file to read from beside a database, for as long as it is of use. */
export interface StagedFile {
  readonly storage: Storage;
  /** Closes it and takes it away. No connection may have it open. */
  remove(): Promise<void>;
}

/**
 * Puts a SQLite file beside a database, to be read from and thrown away: on media with files as one of theirs, on
 * IndexedDB, which holds every database in memory, in memory. What a kill leaves behind is removed by the next one, by
 * an import, and with the database.
 *
 * Throws `storage-full`, `storage-corrupt` (the source is no SQLite file or is cut off), and what the source's stream
 * throws; then nothing is left.
 */
export async function stageFile({ name, medium, source, sizeBytes }: StageOptions): Promise<StagedFile> {
  checkStorageName(name);
  const files: FileMedium = 'openWriter' in medium ? memoryMedium() : medium;
  try {
    await removeStaged(name, files);
    await assertRoom(files, sizeBytes, 'stage');
    await writeStaged(name, files, source);
    const failure = new LastFailure();
    const opened = await openWriter({
      name: stagedName(name),
      medium: files,
      timeoutMs: LOCK_TIMEOUT_MS,
      pageSizeBytes: 4096,
      tuning: DEFAULT_TUNING,
      isStrict: false,
      onError: failure.note,
    });
    const storage = createStorage(
      opened,
      { name: stagedName(name), role: 'writer', persistence: files.persistence },
      failure,
    );
    return {
      storage,
      remove: async () => {
        await storage.close();
        await removeStaged(name, files);
      },
    };
  } catch (thrown) {
    await removeStaged(name, files).catch(() => undefined);
    throw thrown instanceof DOMException ? errorFromMedium(thrown, 'stage') : thrown;
  }
}

/** Removes what a worker that was killed has left beside a database. Only for whoever writes to it. */
export async function discardStaged({ name, medium }: Pick<StageOptions, 'name' | 'medium'>): Promise<void> {
  if (!('openWriter' in medium)) await removeStaged(name, medium);
}
