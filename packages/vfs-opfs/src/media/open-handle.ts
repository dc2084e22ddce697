import { StorageError } from '../storage-error.ts';

/** In Chromium, a busy worker that is terminated keeps running, and keeps its handles, for about two seconds. */
export const OPEN_TIMEOUT_MS = 3000;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;

/**
 * Opens a sync access handle and retries while another worker holds it. This worker has the writer's lock, so the other
 * worker is only still ending. Throws `storage-busy` after `openWithinMs`, even if the browser does not respond.
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
      reject(new StorageError('storage-busy', { reason: 'the browser did not answer', timeoutMs }));
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
