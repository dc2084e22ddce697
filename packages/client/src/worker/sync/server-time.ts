import { wasClockSet, type ClockContact } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';

/**
 * The time after which a new contact replaces the stored one. The ages of changesets are computed from the stored
 * contact, so this limits their error after the clock has been set.
 */
const CONTACT_RESOLUTION_MS = 60 * 60 * 1000;

/** The server's current time, computed from the last contact with it. */
export interface ServerTime {
  /** Null before the first contact since the database was opened. */
  readonly latestContact: ClockContact | null;
  /**
   * Records a contact with the server, whose wall time is `serverMs`. Stores it at most once an hour, unless the
   * device's clock has been set since.
   */
  note(serverMs: number): void;
  /**
   * The server's current wall time in ms; 0 before the first contact. The retention of acknowledged changesets is
   * measured in it, so that a device clock that is set a year ahead does not expire them.
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
