import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Subscribable } from '../interface/subscribable.ts';
import type { SyncStatus } from '../rpc/sync-status.ts';
import type { RejectedChangeset } from '../rpc/rejected-changeset.ts';
import { callListener, createListeners } from './listeners.ts';

export interface RejectedStoreOptions {
  readonly list: () => Promise<readonly RejectedChangeset[]>;
  /** After an update of the status, the list is read again when it is needed. */
  readonly status: Subscribable<SyncStatus>;
  readonly onProblem: (error: RockpoolError) => void;
}

/** A read that failed for a temporary reason is repeated after this time, because the status may not change again. */
const READ_AGAIN_MS = 5_000;

/** The changes of a rejected changeset never change, so only these fields can differ between two lists. */
const COMPARED_FIELDS = ['sequence', 'decided', 'rejectedMs', 'reason', 'code'];

/**
 * The rejected changesets as a store, whose `current` is the list with and without listeners. Without listeners it
 * reads the list when `rejectedCount` of the status changes, and when `current` is read after any other change of the
 * status.
 */
export function createRejectedStore({
  list,
  status,
  onProblem,
}: RejectedStoreOptions): Subscribable<readonly RejectedChangeset[]> {
  const listeners = createListeners<readonly RejectedChangeset[]>();
  let current: readonly RejectedChangeset[] = Object.freeze([]);
  let text: string | null = null;
  let startedCount = 0;
  let shownCount = 0;
  /** The status has changed since the list was last requested. */
  let isOld = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function read(): Promise<void> {
    const number = ++startedCount;
    isOld = false;
    try {
      const next = await list();
      if (number < shownCount) return;
      shownCount = number;
      const nextText = JSON.stringify(next, COMPARED_FIELDS);
      if (nextText === text) return;
      text = nextText;
      current = Object.freeze(next);
      listeners.emit(current);
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      onProblem(error);
      clearTimeout(timer);
      if (error.recovery === 'retry') timer = setTimeout(read, READ_AGAIN_MS);
    }
  }

  status.subscribe(({ rejectedCount }) => {
    isOld = rejectedCount + current.length > 0;
    if (listeners.count > 0 || rejectedCount !== current.length) void read();
  });

  return {
    get current() {
      if (isOld) void read();
      return current;
    },
    subscribe(listener) {
      if (listeners.count === 0) void read();
      const remove = listeners.add(listener);
      if (text !== null) callListener(listener, current);
      return remove;
    },
  };
}
