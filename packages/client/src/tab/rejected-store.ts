import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Subscribable } from '../interface/subscribable.ts';
import type { SyncStatus } from '../rpc/sync-status.ts';
import type { RejectedChangeset } from '../rpc/rejected-changeset.ts';
import { callListener, createListeners } from './listeners.ts';

export interface RejectedStoreOptions {
  readonly list: () => Promise<readonly RejectedChangeset[]>;
  /** The list is read again after every change of the status. */
  readonly status: Subscribable<SyncStatus>;
  readonly onProblem: (error: RockpoolError) => void;
}

/** A rejected changeset keeps its changes; only these fields of it can differ from one list to the next. */
const COMPARED_FIELDS = ['sequence', 'decided', 'rejectedMs', 'reason', 'code'];

/** The rejected changesets as a store. Reads nothing while it has no listeners. */
export function createRejectedStore({
  list,
  status,
  onProblem,
}: RejectedStoreOptions): Subscribable<readonly RejectedChangeset[]> {
  const listeners = createListeners<readonly RejectedChangeset[]>();
  let current: readonly RejectedChangeset[] = Object.freeze([]);
  let text: string | null = null;
  let stop: (() => void) | null = null;
  let startedCount = 0;
  let shownCount = 0;

  async function read(): Promise<void> {
    const number = ++startedCount;
    try {
      const next = await list();
      if (number < shownCount) return;
      shownCount = number;
      show(next);
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      if (error.code !== 'client-closed') onProblem(error);
    }
  }

  function show(next: readonly RejectedChangeset[]): void {
    const nextText = JSON.stringify(next, COMPARED_FIELDS);
    if (nextText === text) return;
    text = nextText;
    current = Object.freeze(next);
    listeners.emit(current);
  }

  return {
    get current() {
      return current;
    },
    subscribe(listener) {
      const remove = listeners.add(listener);
      if (text !== null) callListener(listener, current);
      stop ??= status.subscribe(() => void read());
      return () => {
        remove();
        if (listeners.count > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
