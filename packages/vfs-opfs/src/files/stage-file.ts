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
import { removeStaged } from './finish-import.ts';
import { assertRoom } from './room.ts';
import { writeStaged } from './write-staged.ts';

/** A worker that was just terminated may still have the previous staged file open. */
const LOCK_TIMEOUT_MS = 3000;

export interface StageOptions {
  /** The database beside which the file is staged. The caller must be its writer. */
  readonly name: string;
  readonly medium: Medium;
  /** A plain SQLite file. */
  readonly source: ImportSource;
  readonly sizeBytes: number;
}

/** A temporary database to read from. */
export interface StagedFile {
  readonly storage: Storage;
  /** Closes and deletes it. No connection may have it open. */
  remove(): Promise<void>;
}

/**
 * Opens a SQLite file as a temporary database beside another one: as a file on media with files, and in memory on
 * IndexedDB, which holds every database in memory. If a kill leaves a file behind, the next call, an import or the
 * deletion of the database removes it.
 *
 * Throws `storage-full`, `storage-corrupt` (the source is not a SQLite file or is truncated), and any error of the
 * source stream. After each of these nothing is left behind.
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

/** Removes the staged file of a worker that was killed. The caller must be the database's writer. */
export async function discardStaged({ name, medium }: Pick<StageOptions, 'name' | 'medium'>): Promise<void> {
  if (!('openWriter' in medium)) await removeStaged(name, medium);
}
