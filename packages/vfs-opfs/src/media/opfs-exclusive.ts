import { webLocks } from '../locks/web-locks.ts';
import { webSignals } from '../locks/web-signals.ts';
import { accessHandleFile } from './access-handle-file.ts';
import type { FileMedium } from './medium.ts';
import { missingForOpfs, opfsDirectory, opfsFile } from './opfs-directory.ts';

/** A worker that was told to end while busy goes on, and holds its handles, for about two seconds in Chromium. */
const OPEN_WITHIN_MS = 3000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

export interface OpfsExclusiveOptions {
  /** How long to try again while somebody else holds a handle, before `storage-busy`. Default 3000. */
  readonly openWithinMs?: number;
}

/**
 * The origin-private file system through ordinary access handles, which the browser gives to one opener at a time: for browsers
 * without `readwrite-unsafe`. The same files as on the shared medium. Opens as writer only: followers go through the leader.
 */
export function opfsExclusiveMedium(options: OpfsExclusiveOptions = {}): FileMedium {
  const openWithinMs = options.openWithinMs ?? OPEN_WITHIN_MS;
  return {
    kind: 'opfs-exclusive',
    persistence: 'opfs',
    allowsReaders: false,
    locks: webLocks,
    signals: webSignals,
    missing: missingForOpfs,
    async open(fileName, create) {
      const file = await opfsFile(fileName, create);
      return file === undefined ? undefined : accessHandleFile(await openHandle(file, openWithinMs));
    },
    ...opfsDirectory,
  };
}

/** The writer's lock is ours by now, so whoever still holds the handle is about to lose it: a worker that has not ended yet. */
async function openHandle(file: FileSystemFileHandle, openWithinMs: number): Promise<FileSystemSyncAccessHandle> {
  const deadline = performance.now() + openWithinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await file.createSyncAccessHandle();
    } catch (cause) {
      const isHeld = cause instanceof DOMException && cause.name === 'NoModificationAllowedError';
      if (!isHeld || performance.now() + pauseMs > deadline) throw cause;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
