import { RockpoolError, type ErrorCode, type ErrorFields } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';
import type { DeliveryLog } from './apply-delivery.ts';

/** Where a delivery finds and leaves what it changes beside rows: changelog, outbox, parked changesets, cursor. */
export function deliveryLog({ meta, outbox, parked }: OpenDatabase, nowMs: () => number): DeliveryLog {
  return {
    get cursor() {
      return meta.cursor;
    },
    get decidedUpTo() {
      return outbox.decidedUpTo();
    },
    pendingAfter: (sequence) => outbox.pending(sequence),
    // Nothing to note: what is decided and not parked was admitted.
    admitted: () => undefined,
    rejected(sequence: number, code: ErrorCode, fields: ErrorFields): void {
      parked.park(sequence, new RockpoolError(code, fields).toData(), nowMs());
    },
    advance(cursor: number, decidedUpTo: number): void {
      meta.set('cursor', cursor);
      if (decidedUpTo > 0) outbox.markDecided(decidedUpTo, nowMs());
      outbox.prune(nowMs());
    },
  };
}
