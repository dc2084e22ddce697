import {
  RockpoolError,
  type Delivery,
  type ErrorFields,
  type Outcome,
  type TableSchema,
  type ErrorCode,
  type SnapshotPosition,
} from '@rockpool/shared';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { LookupsByTable } from '../write/table-changes.ts';
import { applyRows } from './apply-rows.ts';
import { CellBaseTable } from './cell-base-table.ts';
import type { PendingChangeset, PendingIndex } from './pending-index.ts';
import { inApplyTransaction, type ApplyTransactionParts } from './apply-transaction.ts';
import { replaceRows, type ReplacedRows } from './replace-rows.ts';
import { withSnapshotFile } from './snapshot-file.ts';

/** The cursor that a delivery brings, and the link that belongs to it. */
export type DeliveredCursor = Pick<Delivery, 'to' | 'logHash'>;

/** A file with the server's rows at one place of its log, beside the database. */
export interface SnapshotFile {
  readonly position: SnapshotPosition;
  /** In the VFS of the database. */
  readonly path: string;
}

/** What a delivery changes beside rows. All calls happen inside its transaction. */
export interface SyncProgress {
  readonly cursor: number;
  readonly lastAckedSequence: number;
  /** Changesets were refused or masked, and still matter. */
  readonly hasRejected: boolean;
  /** The user has decided about a refused changeset after this one: it must not be sent again. */
  hasClosedAfter(sequence: number): boolean;
  /** Changesets without an outcome, decoded, with numbers above `sequence`, in order. */
  pendingAfter(sequence: number): Iterable<PendingChangeset>;
  recordAdmitted(sequence: number): void;
  recordRejected(sequence: number, code: ErrorCode, fields: ErrorFields): void;
  /** A constraint of the rows as they are now stands against a pending changeset. */
  recordMasked(sequence: number, reason: RockpoolError): void;
  /** It fits again. */
  recordUnmasked(sequence: number): void;
  /** The new cursor, and the last changeset that has its outcome. */
  advance(reached: DeliveredCursor, lastAckedSequence: number): void;
  /**
   * The same for a state that replaces everything: the epoch it belongs to (null: the one that is known); what is
   * decided may become less.
   */
  startOver(logEpoch: Uint8Array | null, reached: DeliveredCursor, lastAckedSequence: number): void;
}

export interface ApplyDeliveryInput extends ApplyTransactionParts {
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly lookups: LookupsByTable;
  /** Kept between deliveries; it is brought up to date here. */
  readonly pending: PendingIndex;
  readonly progress: SyncProgress;
  readonly delivery: Delivery;
  /**
   * The log epoch that the server named in its welcome; null for the one that is known. Matters for a whole state
   * alone.
   */
  readonly logEpoch?: Uint8Array | null;
  /** The file that a whole state goes on from, where it does. Default: none. */
  readonly snapshot?: SnapshotFile | null;
  /** The first one after a welcome, with the outcomes that the server still has for this site. */
  readonly isFirst?: boolean;
}

export interface AppliedDelivery {
  /** Names of the tables touched. */
  readonly touched: ReadonlySet<string>;
  /** What is known of the changes in them. */
  readonly changes: readonly TableChange[];
}

/**
 * Applies one delivery in one transaction: outcomes, rows, cursor; all or nothing.
 *
 * Throws `frame-unexpected` for a delivery that does not continue what is here, `site-copied` for changesets that the
 * server called decided before this connection and does not say how, and where its whole state would make one pending
 * again that the user has decided about; and what SQLite throws.
 */
export function applyDelivery(input: ApplyDeliveryInput): AppliedDelivery {
  return input.delivery.whole ? applyFullResync(input) : applyUpdate(input);
}

function applyUpdate({
  connection,
  searchIndexes,
  pending,
  progress,
  delivery,
  tablesById,
  lookups,
  isFirst = false,
}: ApplyDeliveryInput): AppliedDelivery {
  const { cursor } = progress;
  const { from, to } = delivery;
  if (from > cursor || to < cursor)
    throw new RockpoolError('frame-unexpected', { problem: 'delivery does not continue the cursor', cursor, from, to });
  const { outcomes, touched, changes, masked } = inApplyTransaction({ connection, searchIndexes }, () => {
    const news = newOutcomes(progress, delivery, isFirst);
    if (
      isAlreadyVisible(connection, progress, delivery, news) &&
      !hasPendingDocumentEdits(tablesById, progress, news)
    ) {
      progress.advance(delivery, Math.max(progress.lastAckedSequence, delivery.lastAckedSequence));
      return { touched: new Set<string>(), changes: [], masked: new Map<number, null>(), outcomes: news };
    }
    for (const changeset of progress.pendingAfter(pending.newestSequence)) pending.add(changeset);
    const outcomeKinds = new Map(news.map(({ sequence, kind }) => [sequence, kind]));
    const applied = applyRows({ connection, tablesById, lookups, pending, outcomeKinds, groups: delivery.groups });
    updateMasked(progress, pending, applied.masked, outcomeKinds);
    for (const outcome of news) record(progress, outcome);
    progress.advance(delivery, Math.max(progress.lastAckedSequence, delivery.lastAckedSequence));
    return { ...applied, outcomes: news };
  });
  pending.remove(outcomes.map(({ sequence }) => sequence));
  pending.setMasked(masked.keys());
  return { touched, changes };
}

/**
 * All that was sent was admitted, and nobody else wrote: the rows show that already, so that pending changesets need
 * not even be read.
 */
function isAlreadyVisible(
  connection: Connection,
  progress: SyncProgress,
  { groups }: Delivery,
  news: readonly Outcome[],
): boolean {
  return (
    groups.length === 0 &&
    news.every(({ kind }) => kind === 'admitted') &&
    !progress.hasRejected &&
    new CellBaseTable(connection).isEmpty()
  );
}

/**
 * Whether edits of documents may stay pending on something that was admitted: then the server's state of the document
 * has to be kept under them.
 */
function hasPendingDocumentEdits(
  tablesById: ApplyDeliveryInput['tablesById'],
  progress: SyncProgress,
  news: readonly Outcome[],
): boolean {
  const last = news.at(-1);
  if (last === undefined || ![...tablesById.values()].some(({ merge }) => merge.documents.length > 0)) return false;
  for (const _ of progress.pendingAfter(last.sequence)) return true;
  return false;
}

/**
 * The server's whole state takes the place of what is here. What it has not decided, perhaps because it was restored
 * from a backup, is pending (again) on top; local tables are not touched.
 */
function applyFullResync(input: ApplyDeliveryInput): AppliedDelivery {
  const { connection, delivery, snapshot = null } = input;
  if (delivery.from === 0) return replaceAll(input, false);
  if (snapshot === null || snapshot.position.watermark !== delivery.from)
    throw new RockpoolError('frame-unexpected', {
      problem: 'delivery does not go on from the snapshot',
      from: delivery.from,
    });
  return withSnapshotFile(connection, snapshot.path, () => replaceAll(input, true));
}

function replaceAll(
  {
    connection,
    searchIndexes,
    pending,
    progress,
    delivery,
    tablesById,
    logEpoch = null,
    isFirst = false,
  }: ApplyDeliveryInput,
  hasFile: boolean,
): AppliedDelivery {
  // Nearly all rows are new, or nearly none are.
  const isNew = !hasFile || progress.cursor === 0;
  try {
    const { touched, masked } = inApplyTransaction({ connection, searchIndexes }, () => {
      for (const outcome of newOutcomes(progress, delivery, isFirst)) record(progress, outcome);
      // Decided about since the welcome, which was found to fit: to the server it is not decided, and would be sent
      // once more.
      if (progress.hasClosedAfter(delivery.lastAckedSequence))
        throw new RockpoolError('site-copied', {
          problem: 'a changeset that is not decided there is off the list here',
          sequence: delivery.lastAckedSequence + 1,
        });
      progress.startOver(logEpoch, delivery, delivery.lastAckedSequence);
      pending.clear();
      for (const changeset of progress.pendingAfter(0)) pending.add(changeset);
      const replace = (): ReplacedRows =>
        replaceRows({ connection, tablesById, pending, groups: delivery.groups, hasFile });
      const replaced = isNew ? searchIndexes.rebuildAfter(replace) : replace();
      updateMasked(progress, pending, replaced.masked, new Map());
      return replaced;
    });
    pending.setMasked(masked.keys());
    return { touched, changes: [] };
  } catch (thrown) {
    pending.clear();
    throw thrown;
  }
}

/** The outcomes that are news here, checked to be complete: one for each number up to `lastAckedSequence`. */
function newOutcomes(progress: SyncProgress, { lastAckedSequence, outcomes }: Delivery, isFirst: boolean): Outcome[] {
  const ackedHere = progress.lastAckedSequence;
  const fresh = outcomes.filter(({ sequence }) => sequence > ackedHere).sort((a, b) => a.sequence - b.sequence);
  const expected = Math.max(0, lastAckedSequence - ackedHere);
  const gapless = fresh.every(({ sequence }, index) => sequence === ackedHere + 1 + index);
  if (fresh.length !== expected || !gapless) {
    // Later on one that came before did not arrive: on a new connection it comes again.
    if (!isFirst)
      throw new RockpoolError('frame-unexpected', { problem: 'an outcome is missing', ackedHere, lastAckedSequence });
    // The server forgets an outcome when it is confirmed: another copy of this file has confirmed it, or this is an old
    // copy put back.
    throw new RockpoolError('site-copied', {
      problem: 'an outcome is missing',
      ackedHere,
      sequence: lastAckedSequence + 1,
    });
  }
  return fresh;
}

/** Brings the list of masked changesets up to date. */
export function updateMasked(
  progress: SyncProgress,
  pending: PendingIndex,
  masked: ReadonlyMap<number, RockpoolError | null>,
  outcomeKinds: ReadonlyMap<number, unknown>,
): void {
  for (const [sequence, reason] of masked) if (reason !== null) progress.recordMasked(sequence, reason);
  for (const sequence of pending.masked)
    if (!masked.has(sequence) && !outcomeKinds.has(sequence)) progress.recordUnmasked(sequence);
}

function record(progress: SyncProgress, outcome: Outcome): void {
  if (outcome.kind === 'admitted') progress.recordAdmitted(outcome.sequence);
  else progress.recordRejected(outcome.sequence, outcome.code, outcome.fields);
}
