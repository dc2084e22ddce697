import { RockpoolError, type Delivery, type ErrorFields, type Outcome, type TableSchema, type ErrorCode } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { applyRows } from './apply-rows.ts';
import type { PendingChangeset, PendingIndex } from './pending-index.ts';

/** What a delivery changes beside rows. All calls happen inside its transaction. */
export interface DeliveryLog {
  readonly cursor: number;
  readonly decidedUpTo: number;
  /** Changesets without an outcome, decoded, with numbers above `sequence`, in order. */
  pendingAfter(sequence: number): Iterable<PendingChangeset>;
  admitted(sequence: number): void;
  rejected(sequence: number, code: ErrorCode, fields: ErrorFields): void;
  /** A constraint of the rows as they are now stands against a pending changeset. */
  withheld(sequence: number, reason: RockpoolError): void;
  /** It fits again. */
  shown(sequence: number): void;
  /** The new cursor, and the last changeset that has its outcome. */
  advance(cursor: number, decidedUpTo: number): void;
}

export interface ApplyDeliveryInput {
  readonly connection: Connection;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  /** Kept between deliveries; it is brought up to date here. */
  readonly pending: PendingIndex;
  readonly log: DeliveryLog;
  readonly delivery: Delivery;
}

/**
 * Applies one delivery in one transaction: outcomes, rows, cursor; all or nothing. Returns the names of the tables touched.
 *
 * Throws `frame-unexpected` for a delivery that does not continue what is here, `changeset-chain-broken` for a changeset that the
 * server calls decided without saying how, and what SQLite throws.
 */
export function applyDelivery(input: ApplyDeliveryInput): ReadonlySet<string> {
  const { connection, pending, log, delivery, tablesById } = input;
  // Effects of triggers and of foreign keys came with the changeset that caused them. SQLite ignores this switch inside a transaction.
  connection.setForeignKeys(false);
  connection.setTriggers(false);
  try {
    connection.exec('BEGIN IMMEDIATE');
    try {
      const outcomes = newOutcomes(log, delivery);
      for (const changeset of log.pendingAfter(pending.newestSequence)) pending.add(changeset);
      const decisions = new Map(outcomes.map(({ sequence, kind }) => [sequence, kind]));
      const { touched, withheld } = applyRows({ connection, tablesById, pending, decisions, groups: delivery.groups });
      for (const [sequence, reason] of withheld) if (reason !== null) log.withheld(sequence, reason);
      for (const sequence of pending.withheld) if (!withheld.has(sequence) && !decisions.has(sequence)) log.shown(sequence);
      for (const outcome of outcomes) record(log, outcome);
      log.advance(delivery.to, Math.max(log.decidedUpTo, delivery.decidedUpTo));
      connection.exec('COMMIT');
      for (const { sequence } of outcomes) pending.remove(sequence);
      pending.setWithheld(withheld.keys());
      return touched;
    } catch (thrown) {
      // Some failures of storage have rolled back already.
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw thrown;
    }
  } finally {
    connection.setTriggers(true);
    connection.setForeignKeys(true);
  }
}

/** The outcomes that are news here, checked to be complete: one for each number up to `decidedUpTo`. */
function newOutcomes(log: DeliveryLog, { from, to, decidedUpTo, outcomes }: Delivery): Outcome[] {
  const { cursor } = log;
  if (from > cursor || to < cursor) throw new RockpoolError('frame-unexpected', { problem: 'delivery does not continue the cursor', cursor, from, to });
  const fresh = outcomes.filter(({ sequence }) => sequence > log.decidedUpTo).sort((a, b) => a.sequence - b.sequence);
  const expected = Math.max(0, decidedUpTo - log.decidedUpTo);
  const gapless = fresh.every(({ sequence }, index) => sequence === log.decidedUpTo + 1 + index);
  if (fresh.length !== expected || !gapless) {
    throw new RockpoolError('changeset-chain-broken', { problem: 'an outcome is missing', decidedHere: log.decidedUpTo, decidedThere: decidedUpTo });
  }
  return fresh;
}

function record(log: DeliveryLog, outcome: Outcome): void {
  if (outcome.kind === 'admitted') log.admitted(outcome.sequence);
  else log.rejected(outcome.sequence, outcome.code, outcome.fields);
}
