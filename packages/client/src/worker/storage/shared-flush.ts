import { RockpoolError } from '@rockpool/shared';
import type { Storage } from '@rockpool/vfs-opfs';
import { storageFailure } from './storage-failure.ts';

/**
 * Makes commits survive a power cut, with one flush for all that wait. A flush takes longer than a small write, and ten
 * flushes in a row take ten times as long.
 */
export class SharedFlush {
  private readonly storage: Pick<Storage, 'dirtySinceMs' | 'flush'>;
  private nextFlush: Promise<void> | null = null;

  constructor(storage: Pick<Storage, 'dirtySinceMs' | 'flush'>) {
    this.storage = storage;
  }

  /** Resolves when every commit so far survives a power cut. Rejects with `storage-unflushed`: see flushNow. */
  flushed(): Promise<void> {
    if (this.storage.dirtySinceMs === undefined) return Promise.resolve();
    this.nextFlush ??= afterPendingMessages().then(() => {
      this.nextFlush = null;
      flushNow(this.storage);
    });
    return this.nextFlush;
  }
}

/**
 * Throws `storage-unflushed`: the commits are complete, but may not survive a power cut. `reason` is the code of the
 * cause.
 */
export function flushNow(storage: Pick<Storage, 'flush'>): void {
  try {
    storage.flush();
  } catch (cause) {
    throw new RockpoolError('storage-unflushed', { reason: storageFailure(cause).code }, { cause });
  }
}

/**
 * Resolves after the messages that are queued now have been handled. Their writes are committed before the flush and
 * share it.
 */
function afterPendingMessages(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
