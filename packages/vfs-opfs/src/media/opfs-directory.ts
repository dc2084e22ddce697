import { errorFromMedium } from '../storage-error.ts';
import { originFreeBytes } from './free-bytes.ts';
import { assertFilesAreKept } from './kept-files.ts';
import type { FileMedium } from './medium.ts';

const DIRECTORY = 'rockpool';

/** Browsers have it for files in OPFS; TypeScript's library does not know it yet. */
type MovableHandle = FileSystemFileHandle & { move(newName: string): Promise<void> };

/** The part of a medium that does not depend on how its files are opened: both media in OPFS have the same files. */
export const opfsDirectory: Pick<FileMedium, 'rename' | 'remove' | 'list' | 'sizeBytes' | 'freeBytes'> = {
  freeBytes: originFreeBytes,
  async rename(fileName, newName) {
    try {
      const file = (await opfsFile(fileName, false)) as MovableHandle | undefined;
      await file?.move(newName);
    } catch (cause) {
      throw errorFromMedium(cause, 'rename');
    }
  },
  async remove(fileName) {
    try {
      await (await directory()).removeEntry(fileName);
    } catch (cause) {
      if (!isNotFound(cause)) throw errorFromMedium(cause, 'remove');
    }
  },
  async list() {
    const names: string[] = [];
    for await (const name of (await directory()).keys()) names.push(name);
    return names;
  },
  async sizeBytes(fileName) {
    const file = await opfsFile(fileName, false);
    return file === undefined ? undefined : (await file.getFile()).size;
  },
};

/** `undefined` when the file does not exist and `create` is false. */
export async function opfsFile(fileName: string, create: boolean): Promise<FileSystemFileHandle | undefined> {
  try {
    return await (await directory()).getFileHandle(fileName, { create });
  } catch (cause) {
    if (!create && isNotFound(cause)) return undefined;
    throw cause;
  }
}

/** What every use of OPFS needs and this context lacks. Throws `storage-ephemeral`. */
export async function missingForOpfs(): Promise<readonly string[]> {
  await assertFilesAreKept();
  const missing: string[] = [];
  if (typeof navigator === 'undefined' || navigator.locks === undefined) missing.push('Web Locks');
  if (typeof BroadcastChannel === 'undefined') missing.push('BroadcastChannel');
  if (typeof FileSystemFileHandle === 'undefined' || !('createSyncAccessHandle' in FileSystemFileHandle.prototype)) {
    // Also the answer outside a dedicated worker, where browsers hide the method.
    missing.push('createSyncAccessHandle (dedicated worker)');
  }
  try {
    await navigator.storage.getDirectory();
  } catch {
    // Absent on insecure origins and in some web views.
    missing.push('origin-private file system');
  }
  return missing;
}

async function directory(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(DIRECTORY, { create: true });
}

function isNotFound(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'NotFoundError';
}
