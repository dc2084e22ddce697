import { StorageError } from '../storage-error.ts';

/**
 * Throws `storage-ephemeral` in a window that has files of its origin and refuses to keep any: a private window of
 * Firefox, or a person's choice. Its IndexedDB works, and is gone with the window.
 */
export async function assertNotEphemeral(): Promise<void> {
  try {
    await navigator.storage?.getDirectory?.();
  } catch (cause) {
    throwIfEphemeral(cause);
  }
}

/** `cause` is what asking for the origin's directory threw. */
export function throwIfEphemeral(cause: unknown): void {
  if (cause instanceof DOMException && cause.name === 'SecurityError')
    throw new StorageError('storage-ephemeral', { refused: 'origin-private file system' });
}

/** How much more this origin may store, as the browser estimates it; `undefined` when it does not say. */
export async function originFreeBytes(): Promise<number | undefined> {
  const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
  return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
}
