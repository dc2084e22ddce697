import type { StatusUpdate, SyncStatus } from '../rpc/sync-status.ts';
import type { Clock } from './leader/clock.ts';

/**
 * Each write changes the status several times. The response to a write carries the changes that its author must not
 * miss; the page receives the others once per frame.
 */
const STATUS_EVERY_MS = 16;

/** Sends the status of this tab to the page, in responses to calls and as events. */
export interface StatusReports {
  readonly status: SyncStatus;
  readonly latest: StatusUpdate;
  set(status: SyncStatus): void;
  /**
   * The latest update, to be sent in a response; null if an earlier response carried it already. Events are sent
   * separately and may arrive after a response.
   */
  unseen(): StatusUpdate | null;
  /** Called when the database is open. Later changes are sent as events. */
  begin(): void;
}

export function createStatusReports(
  initial: SyncStatus,
  send: (update: StatusUpdate) => void,
  clock: Clock,
): StatusReports {
  let latest: StatusUpdate = { number: 0, status: initial };
  /** The number of the last update that was sent in a response. */
  let answered = -1;
  let isOpen = false;
  let isPlanned = false;
  return {
    get status() {
      return latest.status;
    },
    get latest() {
      return latest;
    },
    set(status) {
      latest = { number: latest.number + 1, status };
      if (!isOpen || isPlanned) return;
      isPlanned = true;
      clock.after(STATUS_EVERY_MS, () => {
        isPlanned = false;
        if (latest.number > answered) send(latest);
      });
    },
    unseen() {
      if (latest.number === answered) return null;
      answered = latest.number;
      return latest;
    },
    begin() {
      isOpen = true;
    },
  };
}
