import { StorageError } from '../storage-error.ts';

/**
 * Throws `storage-ephemeral` in a window that has the file API and refuses to keep files: a private window of Firefox,
 * or a setting of the user. IndexedDB works in such a window, but its data is lost with the window.
 */
export async function assertNotEphemeral(): Promise<void> {
  try {
    await navigator.storage?.getDirectory?.();
  } catch (cause) {
    throwIfEphemeral(cause);
  }
}

/** Throws `storage-ephemeral` if `cause`, the error of requesting the origin's directory, is a refusal. */
export function throwIfEphemeral(cause: unknown): void {
  if (cause instanceof DOMException && cause.name === 'SecurityError')
    throw new StorageError('storage-ephemeral', { refused: 'origin-private file system' });
}

/** How many more bytes this origin may store, by the browser's estimate; `undefined` when it gives none. */
export async function originFreeBytes(): Promise<number | undefined> {
  const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
  return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
}
