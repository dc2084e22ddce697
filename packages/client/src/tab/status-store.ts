import type { StatusUpdate, SyncStatus } from '../rpc/sync-status.ts';
import { callListener, createListeners } from './listeners.ts';

/** The status of this tab, as a store. */
export interface StatusStore {
  readonly current: SyncStatus;
  /** Sets a status that the page itself determined. The next update of the worker replaces it. */
  set(status: SyncStatus): void;
  /** Applies an update from the worker, if there is one. Ignores an update that is older than the last one. */
  hear(update: StatusUpdate | null): void;
  subscribe(listener: (status: SyncStatus) => void): () => void;
}

export function createStatusStore(initial: SyncStatus): StatusStore {
  const listeners = createListeners<SyncStatus>();
  let newest = -1;
  let current = initial;

  function show(status: SyncStatus): void {
    if (JSON.stringify(status) !== JSON.stringify(current)) current = Object.freeze(status);
    // The worker may send an unchanged status, which listeners need only because of the rejected changesets: between
    // two updates, one may have been added and another resolved.
    else if (!status.rejectedCount) return;
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
