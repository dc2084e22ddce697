import { cellValuesEqual, RockpoolError, valueColumns, type BeforeGroup, type ErrorCode, type ErrorFields, type TableSchema } from '@rockpool/shared';
import type { DecodedChangeset } from '../changelog/changelog.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { beginGeneration } from '../documents/generation.ts';
import type { DeliveryLog } from './apply-delivery.ts';
import type { PendingChangeset } from './pending-index.ts';

/** Where a delivery finds and leaves what it changes beside rows: changelog, outbox, parked changesets, cursor. */
export function deliveryLog({ meta, outbox, parked, changelog, tablesById }: OpenDatabase, nowMs: () => number): DeliveryLog {
  const columnsById = new Map([...tablesById].map(([id, table]) => [id, columnIdsOf(table)]));
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
      const withheld = parked.sequences();
      const { olderEpochUpTo } = meta;
      for (const changeset of changelog.readAfter(Math.max(sequence, outbox.decidedUpTo()))) {
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

function columnIdsOf(table: TableSchema): ReadonlySet<number> {
  return new Set(valueColumns(table).map(({ id }) => id));
}

/**
 * What a changeset does to the tables and columns that there are. Migrations let others go once nothing undecided names them, but a server that was restored may
 * have lost what it decided: then it is pending again. It is sent as it was written.
 */
function withinSchema(changeset: DecodedChangeset, columnsById: ReadonlyMap<number, ReadonlySet<number>>): DecodedChangeset {
  const { groups, before } = changeset;
  const isKnown = groups.every(({ tableId, columnIds }, index) => {
    const known = columnsById.get(tableId);
    return known !== undefined && [...columnIds, ...(before[index]?.columnIds ?? [])].every((columnId) => known.has(columnId));
  });
  if (isKnown) return changeset;
  const kept = groups.flatMap((group, index) => {
    const known = columnsById.get(group.tableId);
    return known === undefined ? [] : [{ group: { ...group, ...columnsWithin(group, known) }, old: columnsWithin(before[index] ?? NOTHING, known) }];
  });
  return { ...changeset, groups: kept.map(({ group }) => group), before: kept.map(({ old }) => old) };
}

const NOTHING: BeforeGroup = { columnIds: [], values: [] };

function columnsWithin({ columnIds, values }: BeforeGroup, known: ReadonlySet<number>): BeforeGroup {
  const isKept = (_: unknown, index: number): boolean => known.has(columnIds[index] as number);
  return { columnIds: columnIds.filter(isKept), values: values.filter(isKept) };
}
