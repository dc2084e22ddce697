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
import { BaseTable } from './base-table.ts';
import type { PendingChangeset, PendingIndex } from './pending-index.ts';
import { quietTransaction, type QuietTransactionParts } from './quiet-transaction.ts';
import { replaceRows, type ReplacedRows } from './replace-rows.ts';
import { withSnapshotFile } from './take-rows.ts';

/** The cursor that a delivery brings, and the link that belongs to it. */
export type Reached = Pick<Delivery, 'to' | 'logHash'>;

/** A file with the server's rows at one place of its log, beside the database. */
export interface SnapshotFile {
  readonly position: SnapshotPosition;
  /** In the VFS of the database. */
  readonly path: string;
}

/** What a delivery changes beside rows. All calls happen inside its transaction. */
export interface DeliveryLog {
  readonly cursor: number;
  readonly lastAckedSequence: number;
  /** Changesets were refused or masked, and still matter. */
  readonly hasRejected: boolean;
  /** The user has decided about a refused changeset after this one: it must not be sent again. */
  hasClosedAfter(sequence: number): boolean;
  /** Changesets without an outcome, decoded, with numbers above `sequence`, in order. */
  pendingAfter(sequence: number): Iterable<PendingChangeset>;
  admitted(sequence: number): void;
  rejected(sequence: number, code: ErrorCode, fields: ErrorFields): void;
  /** A constraint of the rows as they are now stands against a pending changeset. */
  masked(sequence: number, reason: RockpoolError): void;
  /** It fits again. */
  shown(sequence: number): void;
  /** The new cursor, and the last changeset that has its outcome. */
  advance(reached: Reached, lastAckedSequence: number): void;
  /**
   * The same for a state that replaces everything: the epoch it belongs to (null: the one that is known); what is
   * decided may become less.
   */
  startOver(logEpoch: Uint8Array | null, reached: Reached, lastAckedSequence: number): void;
}

export interface ApplyDeliveryInput extends QuietTransactionParts {
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly lookups: LookupsByTable;
  /** Kept between deliveries; it is brought up to date here. */
  readonly pending: PendingIndex;
  readonly log: DeliveryLog;
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
  return input.delivery.whole ? applyWhole(input) : applyNews(input);
}

function applyNews({
  connection,
  searchIndexes,
  pending,
  log,
  delivery,
  tablesById,
  lookups,
  isFirst = false,
}: ApplyDeliveryInput): AppliedDelivery {
  const { cursor } = log;
  const { from, to } = delivery;
  if (from > cursor || to < cursor)
    throw new RockpoolError('frame-unexpected', { problem: 'delivery does not continue the cursor', cursor, from, to });
  const { outcomes, touched, changes, masked } = quietTransaction({ connection, searchIndexes }, () => {
    const news = newOutcomes(log, delivery, isFirst);
    if (isAsShown(connection, log, delivery, news) && !leavesEdits(tablesById, log, news)) {
      log.advance(delivery, Math.max(log.lastAckedSequence, delivery.lastAckedSequence));
      return { touched: new Set<string>(), changes: [], masked: new Map<number, null>(), outcomes: news };
    }
    for (const changeset of log.pendingAfter(pending.newestSequence)) pending.add(changeset);
    const decisions = new Map(news.map(({ sequence, kind }) => [sequence, kind]));
    const applied = applyRows({ connection, tablesById, lookups, pending, decisions, groups: delivery.groups });
    recordMasked(log, pending, applied.masked, decisions);
    for (const outcome of news) record(log, outcome);
    log.advance(delivery, Math.max(log.lastAckedSequence, delivery.lastAckedSequence));
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
function isAsShown(connection: Connection, log: DeliveryLog, { groups }: Delivery, news: readonly Outcome[]): boolean {
  return (
    groups.length === 0 &&
    news.every(({ kind }) => kind === 'admitted') &&
    !log.hasRejected &&
    new BaseTable(connection).isEmpty()
  );
}

/**
 * Whether edits of documents may stay pending on something that was admitted: then the server's state of the document
 * has to be kept under them.
 */
function leavesEdits(
  tablesById: ApplyDeliveryInput['tablesById'],
  log: DeliveryLog,
  news: readonly Outcome[],
): boolean {
  const last = news.at(-1);
  if (last === undefined || ![...tablesById.values()].some(({ merge }) => merge.documents.length > 0)) return false;
  for (const _ of log.pendingAfter(last.sequence)) return true;
  return false;
}

/**
 * The server's whole state takes the place of what is here. What it has not decided, perhaps because it was restored
 * from a backup, is pending (again) on top; local tables are not touched.
 */
function applyWhole(input: ApplyDeliveryInput): AppliedDelivery {
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
    log,
    delivery,
    tablesById,
    logEpoch = null,
    isFirst = false,
  }: ApplyDeliveryInput,
  hasFile: boolean,
): AppliedDelivery {
  // Nearly all rows are new, or nearly none are.
  const isNew = !hasFile || log.cursor === 0;
  try {
    const { touched, masked } = quietTransaction({ connection, searchIndexes }, () => {
      for (const outcome of newOutcomes(log, delivery, isFirst)) record(log, outcome);
      // Decided about since the welcome, which was found to fit: to the server it is not decided, and would be sent
      // once more.
      if (log.hasClosedAfter(delivery.lastAckedSequence))
        throw new RockpoolError('site-copied', {
          problem: 'a changeset that is not decided there is off the list here',
          sequence: delivery.lastAckedSequence + 1,
        });
      log.startOver(logEpoch, delivery, delivery.lastAckedSequence);
      pending.clear();
      for (const changeset of log.pendingAfter(0)) pending.add(changeset);
      const replace = (): ReplacedRows =>
        replaceRows({ connection, tablesById, pending, groups: delivery.groups, hasFile });
      const replaced = isNew ? searchIndexes.rebuildAfter(replace) : replace();
      recordMasked(log, pending, replaced.masked, new Map());
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
function newOutcomes(log: DeliveryLog, { lastAckedSequence, outcomes }: Delivery, isFirst: boolean): Outcome[] {
  const decidedHere = log.lastAckedSequence;
  const fresh = outcomes.filter(({ sequence }) => sequence > decidedHere).sort((a, b) => a.sequence - b.sequence);
  const expected = Math.max(0, lastAckedSequence - decidedHere);
  const gapless = fresh.every(({ sequence }, index) => sequence === decidedHere + 1 + index);
  if (fresh.length !== expected || !gapless) {
    // Later on one that came before did not arrive: on a new connection it comes again.
    if (!isFirst)
      throw new RockpoolError('frame-unexpected', { problem: 'an outcome is missing', decidedHere, lastAckedSequence });
    // The server forgets an outcome when it is confirmed: another copy of this file has confirmed it, or this is an old
    // copy put back.
    throw new RockpoolError('site-copied', {
      problem: 'an outcome is missing',
      decidedHere,
      sequence: lastAckedSequence + 1,
    });
  }
  return fresh;
}

/** Brings the list of masked changesets up to date. */
export function recordMasked(
  log: DeliveryLog,
  pending: PendingIndex,
  masked: ReadonlyMap<number, RockpoolError | null>,
  decisions: ReadonlyMap<number, unknown>,
): void {
  for (const [sequence, reason] of masked) if (reason !== null) log.masked(sequence, reason);
  for (const sequence of pending.masked) if (!masked.has(sequence) && !decisions.has(sequence)) log.shown(sequence);
}

function record(log: DeliveryLog, outcome: Outcome): void {
  if (outcome.kind === 'admitted') log.admitted(outcome.sequence);
  else log.rejected(outcome.sequence, outcome.code, outcome.fields);
}
