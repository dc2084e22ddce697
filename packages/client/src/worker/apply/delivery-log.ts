import { RockpoolError, type ErrorCode, type ErrorFields } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';
import type { DeliveryLog } from './apply-delivery.ts';
import type { PendingChangeset } from './pending-index.ts';

/** Where a delivery finds and leaves what it changes beside rows: changelog, outbox, parked changesets, cursor. */
export function deliveryLog({ meta, outbox, parked, changelog }: OpenDatabase, nowMs: () => number): DeliveryLog {
  return {
    get cursor() {
      return meta.cursor;
    },
    get decidedUpTo() {
      return outbox.decidedUpTo();
    },
    *pendingAfter(sequence: number): Generator<PendingChangeset> {
      const withheld = parked.sequences();
      for (const changeset of changelog.readAfter(Math.max(sequence, outbox.decidedUpTo()))) {
        yield { ...changeset, withheld: withheld.has(changeset.sequence) };
      }
    },
    // What is decided and not parked was admitted.
    admitted: (sequence) => parked.drop(sequence),
    rejected(sequence: number, code: ErrorCode, fields: ErrorFields): void {
      parked.drop(sequence); // the server's reason is the one that counts
      parked.park(sequence, new RockpoolError(code, fields).toData(), nowMs());
    },
    withheld: (sequence, reason) => parked.park(sequence, reason.toData(), nowMs()),
    shown: (sequence) => parked.drop(sequence),
    advance(cursor: number, decidedUpTo: number): void {
      meta.set('cursor', cursor);
      if (decidedUpTo > 0) outbox.markDecided(decidedUpTo, nowMs());
      outbox.prune(nowMs());
    },
  };
}
