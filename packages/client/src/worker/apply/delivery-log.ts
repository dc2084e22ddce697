import { cellValuesEqual, RockpoolError, type ErrorCode, type ErrorFields } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';
import { beginGeneration } from '../documents/generation.ts';
import type { DeliveryLog } from './apply-delivery.ts';
import type { PendingChangeset } from './pending-index.ts';
import { columnIdsByTable, withinSchema } from './within-schema.ts';

/** Where a delivery finds and leaves what it changes beside rows: changelog, outbox, parked changesets, cursor. */
export function deliveryLog({ meta, outbox, parked, changelog, tablesById }: OpenDatabase, nowMs: () => number): DeliveryLog {
  const columnsById = columnIdsByTable(tablesById);
  return {
    get cursor() {
      return meta.cursor;
    },
    get decidedUpTo() {
      return outbox.decidedUpTo();
    },
    get hasParked() {
      return !parked.isEmpty();
    },
    hasClosedAfter: (sequence) => parked.hasClosedAfter(sequence),
    *pendingAfter(sequence: number): Generator<PendingChangeset> {
      const after = Math.max(sequence, outbox.decidedUpTo());
      const withheld = parked.sequences(after);
      const { olderEpochUpTo } = meta;
      for (const changeset of changelog.readAfter(after)) {
        // Watermarks of another log mean nothing in this one.
        const base = changeset.sequence <= olderEpochUpTo ? 0 : changeset.base;
        yield { ...withinSchema(changeset, columnsById), base, withheld: withheld.has(changeset.sequence) };
      }
    },
    // What is decided and not parked was admitted.
    admitted: (sequence) => parked.unpark(sequence),
    rejected(sequence: number, code: ErrorCode, fields: ErrorFields): void {
      beginGeneration(meta);
      parked.unpark(sequence); // the server's reason is the one that counts
      parked.park(sequence, new RockpoolError(code, fields).toData(), nowMs());
    },
    withheld(sequence, reason): void {
      beginGeneration(meta);
      parked.park(sequence, reason.toData(), nowMs());
    },
    shown: (sequence) => parked.unpark(sequence),
    advance({ to, link }, decidedUpTo): void {
      meta.set('cursor', to);
      meta.set('cursor_link', link);
      if (decidedUpTo > 0) outbox.markDecided(decidedUpTo, nowMs());
      outbox.prune(nowMs());
    },
    startOver(epoch, { to, link }, decidedUpTo): void {
      meta.set('wants_whole', 0);
      const known = meta.logEpoch;
      if (epoch !== null && (known === null || !cellValuesEqual(known, epoch))) {
        meta.set('log_epoch', epoch);
        if (known !== null) meta.set('older_epoch_up_to', changelog.head().sequence);
      }
      beginGeneration(meta);
      meta.set('cursor', to);
      meta.set('cursor_link', link);
      outbox.markUndecidedAfter(decidedUpTo, nowMs());
    },
  };
}
