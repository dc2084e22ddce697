import type { Delivery } from '@rockpool/shared';
import { applyDelivery } from '../apply/apply-delivery.ts';
import { deliveryLog } from '../apply/delivery-log.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import type { SyncDatabase } from './sync-engine.ts';

export interface SyncDatabaseOptions {
  readonly database: OpenDatabase;
  readonly nowMs: () => number;
  /** A delivery has changed rows of these tables. */
  readonly onApplied: (tables: readonly string[]) => void;
}

/** The local database as sync sees it. */
export function toSyncDatabase({ database, nowMs, onApplied }: SyncDatabaseOptions): SyncDatabase {
  const { meta, outbox, parked, changelog, connection, tablesById } = database;
  const pending = new PendingIndex();
  const log = deliveryLog(database, nowMs);
  return {
    siteId: database.siteId,
    schemaHash: database.schema.hash,
    position: () => ({ epoch: meta.logEpoch, cursor: meta.cursor, decidedUpTo: outbox.decidedUpTo(), lastSequence: changelog.head().sequence }),
    adoptEpoch: (epoch) => meta.set('log_epoch', epoch),
    hashOf: (sequence) => changelog.findHash(sequence),
    nextPush: (sequence, maxBytes) => outbox.nextPush(sequence, maxBytes),
    applyDelivery(delivery: Delivery): void {
      const touched = applyDelivery({ connection, tablesById, pending, log, delivery });
      if (touched.size > 0) onApplied([...touched]);
    },
    counts: () => ({ pendingCount: outbox.pendingCount(), parkedCount: parked.count() }),
    flush: () => database.flush(),
  };
}
