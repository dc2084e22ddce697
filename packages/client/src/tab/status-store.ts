import type { StatusUpdate, SyncStatus } from '../rpc/sync-status.ts';
import { callListener, createListeners } from './listeners.ts';

/** The status that this tab knows, and who wants to hear of it. */
export interface StatusStore {
  readonly current: SyncStatus;
  /** What the page knows by itself; whatever a worker says next is newer. */
  set(status: SyncStatus): void;
  /** What the worker says; null for nothing new. Passes over what is older than what it has said before. */
  hear(update: StatusUpdate | null): void;
  subscribe(listener: (status: SyncStatus) => void): () => void;
}

export function createStatusStore(initial: SyncStatus): StatusStore {
  const listeners = createListeners<SyncStatus>();
  let current = initial;
  let newest = -1;

  function show(status: SyncStatus): void {
    // The worker sends what it has; only a difference is news.
    if (JSON.stringify(status) === JSON.stringify(current)) return;
    current = Object.freeze(status);
    listeners.emit(current);
  }

  return {
    get current() {
      return current;
    },
    set(status) {
      newest = -1;
      show(status);
    },
    hear(update) {
      if (update === null || update.number <= newest) return;
      newest = update.number;
      show(update.status);
    },
    subscribe(listener) {
      const remove = listeners.add(listener);
      callListener(listener, current);
      return remove;
    },
  };
}
