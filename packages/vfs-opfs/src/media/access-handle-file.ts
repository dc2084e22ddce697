import type { StorageFile } from './medium.ts';

/** Wraps an OPFS sync access handle, of either mode, as a file. */
export function accessHandleFile(handle: FileSystemSyncAccessHandle): StorageFile {
  // All calls share one options object, so that frequent reads do not each allocate one.
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
