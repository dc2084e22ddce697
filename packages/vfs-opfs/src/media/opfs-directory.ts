import { errorFromMedium } from '../storage-error.ts';
import { throwIfEphemeral, originFreeBytes } from './origin-storage.ts';
import type { FileMedium } from './medium.ts';

const DIRECTORY = 'rockpool';

/** Browsers support `move` for files in OPFS; TypeScript's library does not declare it yet. */
type MovableHandle = FileSystemFileHandle & { move(newName: string): Promise<void> };

/** The methods that both OPFS media share, because they use the same files and differ only in how they open them. */
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
    try {
      return await namesIn(await directory());
    } catch (cause) {
      if (!isNotFound(cause)) throw cause;
      forgetDirectory();
      return namesIn(await directory());
    }
  },
  async sizeBytes(fileName) {
    const file = await opfsFile(fileName, false);
    return file === undefined ? undefined : (await file.getFile()).size;
  },
};

/** Returns `undefined` when the file does not exist and `create` is false. */
export async function opfsFile(fileName: string, create: boolean): Promise<FileSystemFileHandle | undefined> {
  try {
    return await (await directory()).getFileHandle(fileName, { create });
  } catch (cause) {
    if (!isNotFound(cause)) throw cause;
    // The site's data may have been cleared since the directory was opened.
    forgetDirectory();
    return create ? (await directory()).getFileHandle(fileName, { create }) : undefined;
  }
}

/** Lists what OPFS needs and this context lacks. Throws `storage-ephemeral`. */
export async function missingForOpfs(): Promise<readonly string[]> {
  const missing: string[] = [];
  if (typeof navigator === 'undefined' || navigator.locks === undefined) missing.push('Web Locks');
  if (typeof BroadcastChannel === 'undefined') missing.push('BroadcastChannel');
  if (typeof FileSystemFileHandle === 'undefined' || !('createSyncAccessHandle' in FileSystemFileHandle.prototype)) {
    // Browsers also hide the method outside a dedicated worker.
    missing.push('createSyncAccessHandle (dedicated worker)');
  }
  // Starts opening the directory, in parallel with the request for the writer's lock.
  void directory();
  try {
    await originRoot();
  } catch (cause) {
    throwIfEphemeral(cause);
    // Absent on insecure origins and in some web views.
    missing.push('origin-private file system');
  }
  return missing;
}

let root: Promise<FileSystemDirectoryHandle> | undefined;
let opened: Promise<FileSystemDirectoryHandle> | undefined;

/**
 * Cached, because finding the directory takes two calls to the browser's own process, and opening a database needs it
 * several times.
 */
function directory(): Promise<FileSystemDirectoryHandle> {
  if (opened === undefined) {
    opened = originRoot().then((found) => found.getDirectoryHandle(DIRECTORY, { create: true }));
    opened.catch(forgetDirectory);
  }
  return opened;
}

async function originRoot(): Promise<FileSystemDirectoryHandle> {
  root ??= navigator.storage.getDirectory();
  root.catch(forgetDirectory);
  return root;
}

function forgetDirectory(): void {
  root = undefined;
  opened = undefined;
}

async function namesIn(folder: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  return names;
}

function isNotFound(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'NotFoundError';
}
