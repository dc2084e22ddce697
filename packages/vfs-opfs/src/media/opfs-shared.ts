import { webLocks } from '../locks/web-locks.ts';
import { webSignals } from '../locks/web-signals.ts';
import { errorFromMedium } from '../storage-error.ts';
import type { Medium, StorageFile } from './medium.ts';

const DIRECTORY = 'rockpool';

/** The part of an access handle that TypeScript's library does not know yet. */
type SharedAccessHandle = FileSystemSyncAccessHandle & { readonly mode?: string };
type OpenShared = (options: { mode: 'readwrite-unsafe' }) => Promise<SharedAccessHandle>;

/**
 * The origin-private file system through `readwrite-unsafe` access handles (Chromium 121 and later): one writer and any number of
 * readers, in any tab, on the same files. "Unsafe" means that the browser does not exclude anybody; our writer's lock does.
 */
export function opfsSharedMedium(): Medium {
  return {
    kind: 'opfs-shared',
    persistence: 'opfs',
    locks: webLocks,
    signals: webSignals,
    missing: missingForShared,
    async open(fileName, create) {
      const file = await fileHandle(fileName, create);
      if (file === undefined) return undefined;
      const open = file.createSyncAccessHandle.bind(file) as OpenShared;
      return openHandle(await open({ mode: 'readwrite-unsafe' }));
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
      const file = await fileHandle(fileName, false);
      return file === undefined ? undefined : (await file.getFile()).size;
    },
  };
}

async function missingForShared(): Promise<readonly string[]> {
  const missing: string[] = [];
  if (typeof navigator === 'undefined' || navigator.locks === undefined) missing.push('Web Locks');
  if (typeof BroadcastChannel === 'undefined') missing.push('BroadcastChannel');
  if (typeof FileSystemFileHandle === 'undefined' || !('createSyncAccessHandle' in FileSystemFileHandle.prototype)) {
    // Also the answer outside a dedicated worker, where browsers hide the method.
    missing.push('createSyncAccessHandle (dedicated worker)');
  } else if (!('mode' in FileSystemSyncAccessHandle.prototype)) {
    // Without it the option would be ignored in silence, and the second tab locked out.
    missing.push('readwrite-unsafe access handles');
  }
  try {
    await navigator.storage.getDirectory();
  } catch {
    // Absent on insecure origins; throws in some private windows.
    missing.push('origin-private file system');
  }
  return missing;
}

async function directory(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(DIRECTORY, { create: true });
}

async function fileHandle(fileName: string, create: boolean): Promise<FileSystemFileHandle | undefined> {
  try {
    return await (await directory()).getFileHandle(fileName, { create });
  } catch (cause) {
    if (!create && isNotFound(cause)) return undefined;
    throw cause;
  }
}

function isNotFound(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'NotFoundError';
}

function openHandle(handle: SharedAccessHandle): StorageFile {
  // One options object for all calls: reads are the hot path, and a call allocates nothing else.
  const options = { at: 0 };
  return {
    read(into, at) {
      options.at = at;
      return handle.read(into as Uint8Array<ArrayBuffer>, options);
    },
    write(from, at) {
      options.at = at;
      return handle.write(from as Uint8Array<ArrayBuffer>, options);
    },
    truncate: (sizeBytes) => handle.truncate(sizeBytes),
    flush: () => handle.flush(),
    sizeBytes: () => handle.getSize(),
    close: () => handle.close(),
  };
}
