import {
  RockpoolError,
  type Delivery,
  type ErrorFields,
  type Outcome,
  type TableSchema,
  type ErrorCode,
} from '@rockpool/shared';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { LookupsByTable } from '../invalidate/table-changes.ts';
import { applyRows } from './apply-rows.ts';
import { CellBaseTable } from './cell-base-table.ts';
import type { PendingChangeset, PendingIndex } from './pending-index.ts';
import { inApplyTransaction, type ApplyTransactionParts } from './apply-transaction.ts';
import { replaceRows, type ReplacedRows } from './replace-rows.ts';
import { withSnapshotFile, type SnapshotFile } from './snapshot-file.ts';

/** The cursor after a delivery, with its log hash. */
export type DeliveredCursor = Pick<Delivery, 'to' | 'logHash'>;

/**
 * What a delivery reads and changes besides rows: cursor, outcomes, pending and rejected changesets. Every call happens
 * inside the delivery's transaction.
 */
export interface SyncProgress {
  readonly cursor: number;
  readonly lastAckedSequence: number;
  /** Whether any changeset is still rejected or masked. */
  readonly hasRejected: boolean;
  /**
   * Whether the user has resolved a rejected changeset above `sequence`. A resolved changeset must not be sent again.
   */
  hasResolvedAfter(sequence: number): boolean;
  /** Decoded changesets above `sequence` that have no outcome, in order. */
  pendingAfter(sequence: number): Iterable<PendingChangeset>;
  recordAdmitted(sequence: number): void;
  recordRejected(sequence: number, code: ErrorCode, fields: ErrorFields): void;
  /** Records that a pending changeset violates a constraint of the current rows. */
  recordMasked(sequence: number, reason: RockpoolError): void;
  /** Records that a masked changeset fits again. */
  recordUnmasked(sequence: number): void;
  /** Stores the new cursor and the last acknowledged sequence. */
  advance(reached: DeliveredCursor, lastAckedSequence: number): void;
  /**
   * Stores the cursor and the last acknowledged sequence of a full resync, which may lower the latter. `logEpoch` null
   * keeps the known log epoch.
   */
  startOver(logEpoch: Uint8Array | null, reached: DeliveredCursor, lastAckedSequence: number): void;
}

export interface ApplyDeliveriesInput extends ApplyTransactionParts {
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly lookups: LookupsByTable;
  /** The index is kept across deliveries, and `applyDeliveries` updates it. */
  readonly pending: PendingIndex;
  readonly progress: SyncProgress;
  /** One or more, each continuing the one before. A full resync comes alone. */
  readonly deliveries: readonly Delivery[];
  /** The log epoch of the server's welcome. Null keeps the known log epoch. Only a full resync uses it. */
  readonly logEpoch?: Uint8Array | null;
  /** The snapshot file from which a full resync continues. Default: none. */
  readonly snapshot?: SnapshotFile | null;
  /**
   * Whether this is the first delivery after a welcome, which carries every outcome that the server still keeps for
   * this site.
   */
  readonly isFirst?: boolean;
}

export interface AppliedDeliveries {
  /** Names of the tables that were touched. */
  readonly touched: ReadonlySet<string>;
  /** The changes in these tables, for live queries, if they are known. */
  readonly changes: readonly TableChange[];
}

/**
 * Applies deliveries in one transaction: outcomes, rows and cursor, all or nothing.
 *
 * Throws
 * - `frame-unexpected` for a delivery that does not continue the cursor,
 * - `site-copied` when the server acknowledged a changeset before this connection and its outcome is missing, or when a
 *   full resync would make a changeset pending again that the user has resolved,
 * - SQLite's errors.
 */
export function applyDeliveries(input: ApplyDeliveriesInput): AppliedDeliveries {
  const [first] = input.deliveries;
  return first?.whole === true ? applyFullResync({ ...input, delivery: first }) : applyUpdates(input);
}

function applyUpdates(input: ApplyDeliveriesInput): AppliedDeliveries {
  const { connection, searchIndexes, pending, deliveries, isFirst = false } = input;
  try {
    return combine(
      inApplyTransaction({ connection, searchIndexes }, () =>
        deliveries.map((delivery, index) => applyUpdate(input, delivery, isFirst && index === 0)),
      ),
    );
  } catch (thrown) {
    // After the rollback, the index is ahead of the outbox.
    pending.clear();
    throw thrown;
  }
}

function applyUpdate(
  { connection, pending, progress, tablesById, lookups }: ApplyDeliveriesInput,
  delivery: Delivery,
  isFirst: boolean,
): AppliedDeliveries {
  const { cursor } = progress;
  const { from, to } = delivery;
  if (from > cursor || to < cursor)
    throw new RockpoolError('frame-unexpected', {
      problem: 'the delivery does not continue the cursor',
      cursor,
      from,
      to,
    });
  const outcomes = readNewOutcomes(progress, delivery, isFirst);
  const acknowledged = outcomes.map(({ sequence }) => sequence);
  const lastAckedSequence = Math.max(progress.lastAckedSequence, delivery.lastAckedSequence);
  if (
    isAlreadyVisible(connection, progress, delivery, outcomes) &&
    !hasPendingDocumentEdits(tablesById, progress, outcomes)
  ) {
    progress.advance(delivery, lastAckedSequence);
    pending.remove(acknowledged);
    pending.setMasked([]);
    return { touched: new Set(), changes: [] };
  }
  for (const changeset of progress.pendingAfter(pending.newestSequence)) pending.add(changeset);
  const outcomeKinds = new Map(outcomes.map(({ sequence, kind }) => [sequence, kind]));
  const { touched, changes, masked } = applyRows({
    connection,
    tablesById,
    lookups,
    pending,
    outcomeKinds,
    groups: delivery.groups,
  });
  updateMasked(progress, pending, masked, outcomeKinds);
  for (const outcome of outcomes) record(progress, outcome);
  progress.advance(delivery, lastAckedSequence);
  pending.remove(acknowledged);
  pending.setMasked(masked.keys());
  return { touched, changes };
}

/** A table's changes are known only if those of every delivery that touched it are. */
function combine(applied: readonly AppliedDeliveries[]): AppliedDeliveries {
  const touched = new Set(applied.flatMap((one) => [...one.touched]));
  const unknown = new Set(
    applied.flatMap((one) => {
      const described = new Set(one.changes.map(({ table }) => table));
      return [...one.touched].filter((table) => !described.has(table));
    }),
  );
  return { touched, changes: applied.flatMap((one) => one.changes).filter(({ table }) => !unknown.has(table)) };
}

/**
 * Whether applying this delivery leaves the visible rows unchanged, because every outcome is an admission and no other
 * site wrote. Then pending changesets need not be read.
 */
function isAlreadyVisible(
  connection: Connection,
  progress: SyncProgress,
  { groups }: Delivery,
  newOutcomes: readonly Outcome[],
): boolean {
  return (
    groups.length === 0 &&
    newOutcomes.every(({ kind }) => kind === 'admitted') &&
    !progress.hasRejected &&
    new CellBaseTable(connection).isEmpty()
  );
}

/**
 * Whether edits of documents may remain pending after these outcomes. If so, the server's state of each document must
 * be kept beneath its edits.
 */
function hasPendingDocumentEdits(
  tablesById: ApplyDeliveriesInput['tablesById'],
  progress: SyncProgress,
  newOutcomes: readonly Outcome[],
): boolean {
  const last = newOutcomes.at(-1);
  if (last === undefined || ![...tablesById.values()].some(({ merge }) => merge.documents.length > 0)) return false;
  for (const _ of progress.pendingAfter(last.sequence)) return true;
  return false;
}

type FullResyncInput = ApplyDeliveriesInput & { readonly delivery: Delivery };

/**
 * Replaces all synced rows with the server's. Changesets without an outcome stay pending, or become pending again if
 * the server lost their outcomes when it was restored from a backup; they are applied on top. Local tables are
 * untouched.
 */
function applyFullResync(input: FullResyncInput): AppliedDeliveries {
  const { connection, delivery, snapshot = null } = input;
  if (delivery.from === 0) return replaceAll(input, false);
  if (snapshot === null || snapshot.position.watermark !== delivery.from)
    throw new RockpoolError('frame-unexpected', {
      problem: 'the delivery does not continue from the snapshot',
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
  }: FullResyncInput,
  hasFile: boolean,
): AppliedDeliveries {
  // Without a file, or in an empty database, nearly all rows are new. Rebuilding search indexes is then the fastest
  // way.
  const rebuildsIndexes = !hasFile || progress.cursor === 0;
  try {
    const { touched, masked } = inApplyTransaction({ connection, searchIndexes }, () => {
      for (const outcome of readNewOutcomes(progress, delivery, isFirst)) record(progress, outcome);
      // The server has no outcome for a changeset that the user resolved after the welcome. Continuing would send it
      // again.
      if (progress.hasResolvedAfter(delivery.lastAckedSequence))
        throw new RockpoolError('site-copied', {
          problem: 'a changeset that the user has resolved has no outcome',
          sequence: delivery.lastAckedSequence + 1,
        });
      progress.startOver(logEpoch, delivery, delivery.lastAckedSequence);
      pending.clear();
      for (const changeset of progress.pendingAfter(0)) pending.add(changeset);
      const replace = (): ReplacedRows =>
        replaceRows({ connection, tablesById, pending, groups: delivery.groups, hasFile });
      const replaced = rebuildsIndexes ? searchIndexes.rebuildAfter(replace) : replace();
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

/** The outcomes that this site does not have yet, checked for gaps: one for each sequence up to `lastAckedSequence`. */
function readNewOutcomes(
  progress: SyncProgress,
  { lastAckedSequence, outcomes }: Delivery,
  isFirst: boolean,
): Outcome[] {
  const ackedHere = progress.lastAckedSequence;
  const fresh = outcomes.filter(({ sequence }) => sequence > ackedHere).sort((a, b) => a.sequence - b.sequence);
  const expected = Math.max(0, lastAckedSequence - ackedHere);
  const gapless = fresh.every(({ sequence }, index) => sequence === ackedHere + 1 + index);
  if (fresh.length !== expected || !gapless) {
    // An earlier delivery was lost. A new connection brings the outcome again.
    if (!isFirst)
      throw new RockpoolError('frame-unexpected', { problem: 'an outcome is missing', ackedHere, lastAckedSequence });
    // The server forgets an outcome once it is confirmed: another copy of this file confirmed it, or this file was
    // restored from an old copy.
    throw new RockpoolError('site-copied', {
      problem: 'an outcome is missing',
      ackedHere,
      sequence: lastAckedSequence + 1,
    });
  }
  return fresh;
}

/** Stores which pending changesets are masked now. */
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
