import { ID_BYTES } from '@rockpool/shared';
import { updateMasked, type SyncProgress } from '../apply/apply-delivery.ts';
import { applyRows } from '../apply/apply-rows.ts';
import type { PendingIndex } from '../apply/pending-index.ts';
import { inApplyTransaction } from '../apply/apply-transaction.ts';
import { changelogCode } from '../changelog/load-changelog-code.ts';
import { beginGeneration, documentAuthor } from '../documents/document-author.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import { documentTables } from '../documents/document-columns.ts';
import type { OpenDatabase } from '../database/open-database.ts';

export interface NewSiteOptions {
  readonly firstOwn: number;
  /** The log epoch of the server; null before the first welcome. Changesets kept under a different one are sent too. */
  readonly logEpoch: Uint8Array | null;
}

/**
 * Continues as a new site, in one transaction: a new site id, and the changesets from `firstOwn` on numbered from 1.
 * Those before it are on the server under the old site. Pending ones also leave the visible rows; they come back in
 * deliveries as another site's writes. Before a full resync, which replaces all rows, the rows stay as they are.
 * Returns the names of the touched tables. The base of a pending changeset on top of such a change is older, so pushes
 * name the earlier site (docs/decisions/0126-earlier-sites.md). A write that comes before those deliveries counts as
 * concurrent, because its author does not see the change, unless the rows stay as they are. Changesets of an earlier
 * principal are deleted, except rejected ones.
 */
export function becomeNewSite(
  database: OpenDatabase,
  pending: PendingIndex,
  progress: SyncProgress,
  { firstOwn: wanted, logEpoch }: NewSiteOptions,
): ReadonlySet<string> {
  const { connection, tablesById, meta, changelog, outbox, rejected } = database;
  const { firstOfPrincipal } = meta;
  const { forgetBefore, insertKept, moveEarlierSites, renumber } = changelogCode();
  const firstOwn = Math.max(wanted, firstOfPrincipal);
  try {
    return inApplyTransaction(database, () => {
      changelog.packs.unpackAfter(0);
      // Every changeset of the new site belongs to the current principal. Rejected ones of both are below 0.
      forgetBefore(connection, firstOfPrincipal);
      if (firstOfPrincipal > 0) meta.set('first_of_principal', 1);
      for (const changeset of progress.pendingAfter(pending.newestSequence)) pending.add(changeset);
      const leaving = new Map(
        pending.sequences.filter((sequence) => sequence < firstOwn).map((sequence) => [sequence, 'rejected' as const]),
      );
      let touched: ReadonlySet<string> = new Set();
      // Before a full resync, the rows stay as they are. They could not be derived: after another change of site,
      // acknowledged changesets are pending, and no covered value describes the rows beneath them.
      const keepsLeaving = leaving.size > 0 && meta.wantsFullResync;
      const leave = leaving.size > 0 && !keepsLeaving;
      if (leave) {
        const applied = applyRows({ connection, tablesById, pending, outcomeKinds: leaving, groups: [] });
        updateMasked(progress, pending, applied.masked, leaving);
        touched = applied.touched;
      }
      const lastAckedSequence = outbox.lastAckedSequence();
      const inserted = insertKept(connection, logEpoch, firstOwn, lastAckedSequence);
      if (firstOwn <= lastAckedSequence || inserted > 0) meta.set('wants_whole', 1);
      const oldSiteId = meta.siteId;
      meta.set('site_id', database.randomBytes(ID_BYTES));
      meta.set('is_restored', null);
      const documents = documentTables(tablesById.values());
      if (documents.size > 0) {
        const maskedAuthor = documentAuthor(meta);
        beginGeneration(meta);
        const ackedThere = outbox.lastAckedSequence();
        const notShown = rejected.sequences();
        documentSupport().rewriteEdits(
          connection,
          documents,
          { shown: documentAuthor(meta), masked: maskedAuthor },
          firstOwn,
          (sequence) =>
            keepsLeaving ? 'in-base' : notShown.has(sequence) ? 'masked' : sequence <= ackedThere ? 'in-base' : 'shown',
        );
      }
      // All of them were written under an older log epoch than the current log, which may lack the kept changesets.
      const mark = inserted > 0 ? Infinity : meta.olderEpochUpTo;
      const moved = renumber(connection, { oldSiteId, logEpoch, firstOwn });
      meta.set('older_epoch_up_to', moved.numberOf(mark));
      moveEarlierSites(meta, moved, { leave, logEpoch });
      return touched;
    });
  } finally {
    pending.clear();
  }
}
