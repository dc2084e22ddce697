import { RockpoolError } from '@rockpool/shared';
import type { Storage } from '@rockpool/vfs-opfs';
import { storageFailure } from './storage-failure.ts';

/**
 * Has commits survive a power cut, with one flush for all that wait for it: a flush takes longer than a small write,
 * and ten of them one after the other ten times as long.
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
 * Throws `storage-unflushed`: the commits stand, and whether they would survive a power cut is open. `reason`: the code
 * of what is in the way.
 */
export function flushNow(storage: Pick<Storage, 'flush'>): void {
  try {
    storage.flush();
  } catch (cause) {
    throw new RockpoolError('storage-unflushed', { reason: storageFailure(cause).code }, { cause });
  }
}

/** Once the messages that wait now were heard: what they ask for is committed before the flush, and shares it. */
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
