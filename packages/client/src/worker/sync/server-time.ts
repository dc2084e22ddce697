import { wasClockSet, type ClockContact } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';

/** How often the contact from which ages are computed is stored. This limits the error after the clock has been set. */
const CONTACT_RESOLUTION_MS = 60 * 60 * 1000;

/** The server's current time, computed from the last contact with it. */
export interface ServerTime {
  /** Null before the first contact since the database was opened. */
  readonly latestContact: ClockContact | null;
  /** The server's current wall time, in ms. Stores the contact, at most once an hour while the clock is not set. */
  note(serverMs: number): void;
  /**
   * Acknowledged changesets are kept for days of server time, so that a clock that is set a year ahead does not expire
   * them.
   */
  nowMs(): number;
}

export function createServerTime(
  { meta, outbox, localTime }: Pick<OpenDatabase, 'meta' | 'outbox' | 'localTime'>,
  elapsedMs: () => number,
): ServerTime {
  let latestContact: ClockContact | null = null;
  let contactElapsedMs = 0;
  return {
    get latestContact() {
      return latestContact;
    },
    /** Pending writes must be later than the stored contact; otherwise their age could not be computed from it. */
    note(serverMs) {
      latestContact = { localUs: Math.floor(localTime.nowUs()), serverMs };
      contactElapsedMs = elapsedMs();
      const kept = meta.clockContact;
      if (
        kept !== null &&
        (outbox.pendingCount() > 0 ||
          (serverMs - kept.serverMs < CONTACT_RESOLUTION_MS && !wasClockSet(kept, latestContact)))
      )
        return;
      meta.set('clock_contact_json', JSON.stringify(latestContact));
    },
    nowMs: () => (latestContact === null ? 0 : Math.floor(latestContact.serverMs + elapsedMs() - contactElapsedMs)),
  };
}
