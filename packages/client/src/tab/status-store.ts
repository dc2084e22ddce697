import type { SyncStatus } from '../rpc/sync-status.ts';
import { callListener, createListeners } from './listeners.ts';

/** The status that this tab knows, and who wants to hear of it. */
export interface StatusStore {
  readonly current: SyncStatus;
  set(status: SyncStatus): void;
  subscribe(listener: (status: SyncStatus) => void): () => void;
}

export function createStatusStore(initial: SyncStatus): StatusStore {
  const listeners = createListeners<SyncStatus>();
  let current = initial;
  return {
    get current() {
      return current;
    },
    set(status) {
      // The worker sends what it has; only a difference is news.
      if (JSON.stringify(status) === JSON.stringify(current)) return;
      current = Object.freeze(status);
      listeners.emit(current);
    },
    subscribe(listener) {
      const remove = listeners.add(listener);
      callListener(listener, current);
      return remove;
    },
  };
}
