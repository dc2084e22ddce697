import { cellValuesEqual, RockpoolError, type ErrorCode, type ErrorFields } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';
import { beginGeneration } from '../documents/document-author.ts';
import type { SyncProgress } from '../apply/apply-delivery.ts';
import type { PendingChangeset } from '../apply/pending-index.ts';
import { forgetUnseenColumns } from '../file/unseen-columns.ts';
import { columnIdsByTable, withinSchema } from '../apply/within-schema.ts';

/** The progress of sync as the database stores it, in changelog, outbox, rejected changesets and metadata. */
export function syncProgress(
  { meta, outbox, rejected, changelog, tablesById }: OpenDatabase,
  nowMs: () => number,
): SyncProgress {
  const columnsById = columnIdsByTable(tablesById);
  return {
    get cursor() {
      return meta.cursor;
    },
    get lastAckedSequence() {
      return outbox.lastAckedSequence();
    },
    get hasRejected() {
      return !rejected.isEmpty();
    },
    hasResolvedAfter: (sequence) => rejected.hasResolvedAfter(sequence),
    *pendingAfter(sequence: number): Generator<PendingChangeset> {
      const after = Math.max(sequence, outbox.lastAckedSequence());
      const masked = rejected.sequences(after);
      const withdrawn = rejected.withdrawnAfter(after);
      const { olderEpochUpTo } = meta;
      for (const changeset of changelog.readAfter(after)) {
        // Watermarks of an older log epoch cannot be compared with those of this log.
        const base = changeset.sequence <= olderEpochUpTo ? 0 : changeset.base;
        const { sequence: number } = changeset;
        yield {
          ...withinSchema(changeset, columnsById),
          base,
          masked: masked.has(number),
          withdrawn: withdrawn.has(number),
        };
      }
    },
    // An acknowledged changeset without a rejection counts as admitted.
    recordAdmitted: (sequence) => rejected.remove(sequence),
    recordRejected(sequence: number, code: ErrorCode, fields: ErrorFields): void {
      beginGeneration(meta);
      rejected.remove(sequence); // The server's reason replaces a local one.
      rejected.add(sequence, new RockpoolError(code, fields).toData(), nowMs());
    },
    recordMasked(sequence, reason): void {
      beginGeneration(meta);
      rejected.add(sequence, reason.toData(), nowMs());
    },
    recordUnmasked: (sequence) => rejected.remove(sequence),
    advance({ to, logHash }, lastAckedSequence): void {
      meta.setCursor(to, logHash);
      if (lastAckedSequence > 0) outbox.markAcknowledged(lastAckedSequence, nowMs());
      outbox.pruneIfDue(nowMs());
      outbox.pack();
    },
    startOver(logEpoch, { to, logHash }, lastAckedSequence): void {
      meta.set('wants_whole', 0);
      forgetUnseenColumns(meta);
      const known = meta.logEpoch;
      if (logEpoch !== null && (known === null || !cellValuesEqual(known, logEpoch))) {
        meta.set('log_epoch', logEpoch);
        if (known !== null) meta.set('older_epoch_up_to', changelog.head().sequence);
      }
      meta.endEarlierSites(changelog.head().sequence);
      beginGeneration(meta);
      meta.setCursor(to, logHash);
      outbox.markPendingAfter(lastAckedSequence, nowMs());
    },
  };
}
