import { webLocks } from '../locks/web-locks.ts';
import { webSignals } from '../locks/web-signals.ts';
import { accessHandleFile } from './access-handle-file.ts';
import type { FileMedium } from './medium.ts';
import { OPEN_TIMEOUT_MS, openHandle } from './open-handle.ts';
import { missingForOpfs, opfsDirectory, opfsFile } from './opfs-directory.ts';

export interface OpfsExclusiveOptions {
  /** How long to retry while another worker holds a handle, before `storage-busy`. Default 3000. */
  readonly openWithinMs?: number;
}

/**
 * The origin-private file system through ordinary access handles, which the browser grants to one opener at a time: for
 * browsers without `readwrite-unsafe`. The files are the same as on the shared medium. Opens writers only; followers go
 * through the leader.
 */
export function opfsExclusiveMedium(options: OpfsExclusiveOptions = {}): FileMedium {
  const openWithinMs = options.openWithinMs ?? OPEN_TIMEOUT_MS;
  return {
    kind: 'opfs-exclusive',
    persistence: 'opfs',
    allowsReaders: false,
    locks: webLocks,
    signals: webSignals,
    missing: missingForOpfs,
    async open(fileName, create) {
      const file = await opfsFile(fileName, create);
      return file === undefined
        ? undefined
        : accessHandleFile(await openHandle(() => file.createSyncAccessHandle(), openWithinMs));
    },
    ...opfsDirectory,
  };
}
