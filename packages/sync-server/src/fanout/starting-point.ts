import { FIRST_PREVIOUS_HASH, RockpoolError, type Hello } from '@rockpool/shared';
import { admittedWatermarkUpTo } from '../log/outcomes.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../store/internal-tables.ts';

/** Where a session begins. */
export interface StartingPoint {
  /** Null: the site has not written yet. */
  readonly siteNumber: number | null;
  /** The last of its changesets that is decided, and its hash. */
  readonly decidedUpTo: number;
  readonly decidedHash: Uint8Array;
  /** See Reader in pull/row-delivery.ts. */
  readonly ownFrom: number;
}

/**
 * Fits what a client says of itself to the log. Throws
 * - `epoch-changed`: its cursor is of another log;
 * - `cursor-ahead`: it has seen or confirmed more than this log holds, so the log has lost something;
 * - `site-copied`: the log holds more of this site than the client does, so another copy of the client's file has written.
 */
export function startingPoint(file: DatabaseFile, site: string, hello: Hello): StartingPoint {
  const { log, sql, sites, epoch } = file;
  if (site === SERVER_SITE) throw new RockpoolError('frame-invalid', { problem: 'reserved site id' });
  if (hello.epoch !== null && Buffer.compare(hello.epoch, epoch) !== 0) throw new RockpoolError('epoch-changed');
  if (hello.cursor > log.watermark) throw new RockpoolError('cursor-ahead', { cursor: hello.cursor, watermark: log.watermark });
  const state = sites.get(site);
  const decidedUpTo = state?.lastSequence ?? 0;
  if (hello.decidedUpTo > decidedUpTo) throw new RockpoolError('cursor-ahead', { decidedUpTo: hello.decidedUpTo, known: decidedUpTo });
  if (state === undefined) return { siteNumber: null, decidedUpTo, decidedHash: FIRST_PREVIOUS_HASH, ownFrom: 0 };
  if (hello.lastSequence < decidedUpTo || hello.decidedUpTo < state.confirmedSequence) {
    throw new RockpoolError('site-copied', { lastSequence: hello.lastSequence, decidedUpTo });
  }
  return { siteNumber: state.number, decidedUpTo, decidedHash: state.lastHash, ownFrom: admittedWatermarkUpTo(sql, state, hello.decidedUpTo) };
}
