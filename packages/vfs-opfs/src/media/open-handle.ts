import { StorageError } from '../storage-error.ts';

/** A worker that was told to end while busy goes on, and holds its handles, for about two seconds in Chromium. */
export const OPEN_TIMEOUT_MS = 3000;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;

/**
 * Opens a sync access handle, trying again while somebody else holds it. The writer's lock is ours by now, so whoever
 * still does is about to lose it: a worker that has not ended yet. Throws `storage-busy` after `openWithinMs`, also
 * when the browser does not answer at all.
 */
export async function openHandle(
  open: () => Promise<FileSystemSyncAccessHandle>,
  openWithinMs: number,
): Promise<FileSystemSyncAccessHandle> {
  const deadline = performance.now() + openWithinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await withTimeout(open(), openWithinMs);
    } catch (cause) {
      const isHeld = cause instanceof DOMException && cause.name === 'NoModificationAllowedError';
      if (!isHeld) throw cause;
      if (performance.now() + pauseMs > deadline)
        throw new StorageError('storage-busy', { holder: 'another access handle', timeoutMs: openWithinMs });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function withTimeout(
  opening: Promise<FileSystemSyncAccessHandle>,
  timeoutMs: number,
): Promise<FileSystemSyncAccessHandle> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new StorageError('storage-busy', { holder: 'the browser did not answer', timeoutMs }));
    }, timeoutMs);
    opening.then(
      (handle) => {
        clearTimeout(timer);
        if (isLate) handle.close();
        else resolve(handle);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(cause as Error);
      },
    );
  });
}
