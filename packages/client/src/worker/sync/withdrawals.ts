import { updateMasked, type SyncProgress } from '../apply/apply-delivery.ts';
import { applyRows } from '../apply/apply-rows.ts';
import { inApplyTransaction } from '../apply/apply-transaction.ts';
import type { PendingIndex } from '../apply/pending-index.ts';
import { WITHDRAWN } from '../changelog/withdrawn.ts';
import type { OpenDatabase } from '../database/open-database.ts';

/*
 * A changeset that the user withdraws may be on the server already, or on its way: only a welcome tells. Until then:
 *
 *   withdraw ─► hidden from the tables, listed as rejected (`decided: false`), nothing is pushed
 *     ─► next welcome ─┬─ the server has it: its outcome arrives, and the changeset counts as if it were not withdrawn
 *                      └─ the server lacks it: this database continues as a new site without it (new-site.ts)
 *
 * The hello ends every earlier session of the site, so no push that is in flight can be admitted after the welcome. The
 * chain of hashes permits no gap, hence the new site: its changesets have origins, so none of them counts twice.
 */

export class Withdrawals {
  /** Whether a changeset was withdrawn after the last welcome, so that only the next one decides it. */
  asksServer = false;
  private readonly database: OpenDatabase;
  private readonly pending: PendingIndex;
  private readonly progress: SyncProgress;

  constructor(database: OpenDatabase, pending: PendingIndex, progress: SyncProgress) {
    this.database = database;
    this.pending = pending;
    this.progress = progress;
  }

  /** Whether an outcome or a new site id is awaited. Nothing may be pushed meanwhile. */
  get areUndecided(): boolean {
    const { rejected, outbox } = this.database;
    return rejected.withdrawnAfter(outbox.lastAckedSequence()).size > 0;
  }

  /**
   * Hides a pending changeset from the tables until a welcome decides, in one transaction. On a new site that waits
   * for a full resync, only that resync hides it. `id` is its `WaitingChangeset.id`. Returns the names of the touched
   * tables; null if no such changeset waits. A changeset that was withdrawn before is not touched again, so the call
   * can be repeated.
   */
  withdraw(id: string): ReadonlySet<string> | null {
    const { database, pending, progress } = this;
    const { connection, outbox, rejected } = database;
    const withdrawn = rejected.withdrawnAfter();
    const found = connection
      .rows('SELECT sequence FROM rockpool_changelog WHERE stamp_us = ?', Number(id))
      .map(([sequence]) => sequence as number)
      .find((sequence) => sequence > outbox.lastAckedSequence() || withdrawn.has(sequence));
    if (found === undefined) return null;
    if (withdrawn.has(found)) return new Set();
    try {
      const touched = inApplyTransaction(database, () => {
        for (const changeset of progress.pendingAfter(pending.newestSequence)) pending.add(changeset);
        pending.withdrawn.add(found);
        const hidden = this.hide();
        progress.recordRejected(found, WITHDRAWN, {});
        return hidden;
      });
      this.asksServer = true;
      return touched;
    } finally {
      pending.clear();
    }
  }

  private hide(): ReadonlySet<string> {
    const { database, pending, progress } = this;
    const { connection, tablesById, meta, outbox } = database;
    // After a change of site, acknowledged changesets may be pending, and no covered value describes the rows beneath
    // them. The full resync then hides the withdrawn one.
    if (meta.wantsFullResync && outbox.lastAckedSequence() === 0) return new Set();
    const outcomeKinds = new Map<number, never>();
    const applied = applyRows({ connection, tablesById, pending, outcomeKinds, groups: [], withdraws: true });
    updateMasked(progress, pending, applied.masked, outcomeKinds);
    return applied.touched;
  }
}
