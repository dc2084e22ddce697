import { StorageError } from '../storage-error.ts';

/**
 * Throws `storage-ephemeral` in a window that has files of its origin and refuses to keep any: a private window of
 * Firefox, or a person's choice. Its IndexedDB works, and is gone with the window.
 */
export async function assertFilesAreKept(): Promise<void> {
  try {
    await navigator.storage?.getDirectory?.();
  } catch (cause) {
    throwIfRefused(cause);
  }
}

/** `cause` is what asking for the origin's directory threw. */
export function throwIfRefused(cause: unknown): void {
  if (cause instanceof DOMException && cause.name === 'SecurityError')
    throw new StorageError('storage-ephemeral', { refused: 'origin-private file system' });
}
