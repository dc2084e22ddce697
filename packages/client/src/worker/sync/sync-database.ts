import {
  ageOfStampUs,
  cellValuesEqual,
  FIRST_PREVIOUS_HASH,
  RockpoolError,
  syncedTables,
  SYSTEM_TABLES,
  wasClockSet,
  type ClockContact,
  type Delivery,
  type Welcome,
} from '@rockpool/shared';
import { applyDelivery } from '../apply/apply-delivery.ts';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import { syncProgress } from './sync-progress.ts';
import { columnIdsByTable, withinSchema } from '../apply/within-schema.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { toAuditDatabase } from '../audit/audit-database.ts';
import { retryDependentEdits } from '../write/retry-dependent-edits.ts';
import type { TableChange, TouchedTables } from '../../rpc/query-dependencies.ts';
import { lookupsByTable } from '../invalidate/table-changes.ts';
import { judgeWelcome, type WelcomeVerdict } from './judge-welcome.ts';
import { mismatchFields } from './judge-welcome.ts';
import { becomeNewSite } from './new-site.ts';
import type { SyncDatabase } from './sync-engine.ts';

/** How often the contact that ages are computed from is stored: it bounds the error after the clock was set. */
const CONTACT_RESOLUTION_MS = 60 * 60 * 1000;

export interface SyncDatabaseOptions {
  readonly database: OpenDatabase;
  /** Monotonic time, independent of the wall clock. */
  readonly elapsedMs: () => number;
  /** A delivery changed rows. */
  readonly onApplied: (touched: TouchedTables) => void;
}

/** The local database as sync sees it. */
export function toSyncDatabase({ database, elapsedMs, onApplied }: SyncDatabaseOptions): SyncDatabase {
  const { meta, outbox, rejected, changelog, connection, searchIndexes, tablesById, localTime, schema, appSchema } =
    database;
  const lookups = lookupsByTable(syncedTables(schema));
  const pending = new PendingIndex();
  const progress = syncProgress(database, serverNowMs);
  // Of the last welcome. Stored together with the rows that belong to it.
  let epochThere: Uint8Array | null = null;
  let latestContact: ClockContact | null = null;
  let contactElapsedMs = 0;
  let isFirst = false;
  let isNarrow = false;
  // The binding has to survive power loss before anything is sent: else what was sent here could be sent to another
  // database.
  let isBindingStored = true;

  /** Pending writes must be later than the stored contact, or their age could not be computed from it. */
  function noteServerTime(serverMs: number): void {
    latestContact = { localUs: Math.floor(localTime.nowUs()), serverMs };
    contactElapsedMs = elapsedMs();
    const kept = meta.clockContact;
    if (
      kept !== null &&
      (outbox.pendingCount() > 0 ||
        (serverMs - kept.serverMs < CONTACT_RESOLUTION_MS && !wasClockSet(kept, latestContact)))
    )
      return;
    meta.set('clock_contact_json', JSON.stringify(latestContact));
  }

  /** Acknowledged changesets are kept for days of server time: a clock set a year ahead must not expire them. */
  function serverNowMs(): number {
    return latestContact === null ? 0 : Math.floor(latestContact.serverMs + elapsedMs() - contactElapsedMs);
  }

  function olderEpochUpTo(): number {
    const { logEpoch } = meta;
    const isOther = epochThere !== null && logEpoch !== null && !cellValuesEqual(epochThere, logEpoch);
    return isOther ? changelog.head().sequence : meta.olderEpochUpTo;
  }

  /**
   * A server that lacks a column of a pending changeset would reject it. Nothing is pushed until it knows the file's
   * schema.
   */
  function pendingFitsApp(): boolean {
    const known = columnIdsByTable(
      new Map([...syncedTables(appSchema), ...SYSTEM_TABLES].map((table) => [table.id, table])),
    );
    for (const changeset of changelog.readAfter(outbox.lastAckedSequence()))
      if (withinSchema(changeset, known) !== changeset) return false;
    return true;
  }

  /** Once the server knows the file's schema, it may already have values for the additional columns. */
  function noteServedSchema(): void {
    if (isNarrow === meta.syncedWithAppSchema) return;
    if (!isNarrow) meta.set('wants_whole', 1);
    meta.set('synced_narrow', isNarrow ? 1 : 0);
  }

  /** Throws `database-mismatch` if this file belongs to another server database. */
  function bindTo(identity: Uint8Array): void {
    const { databaseIdentity: known } = meta;
    if (known === null) {
      meta.set('database_identity', identity);
      isBindingStored = false;
    } else if (!cellValuesEqual(known, identity))
      throw new RockpoolError('database-mismatch', {
        problem: 'the server database of this name is not the one that the local database belongs to',
      });
    if (isBindingStored) return;
    database.flush();
    isBindingStored = true;
  }

  function applied(tables: ReadonlySet<string>, changes: readonly TableChange[] = []): void {
    if (tables.size > 0) onApplied({ tables: [...tables], changes });
  }

  return {
    get siteId() {
      return meta.siteId;
    },
    get schemaHash() {
      return isNarrow ? appSchema.hash : schema.hash;
    },
    get isNarrow() {
      return isNarrow;
    },
    mismatchFields: (fields) => mismatchFields(isNarrow ? appSchema : schema, fields),
    onSchemaMismatch() {
      isNarrow = !isNarrow && schema.hash !== appSchema.hash && database.readOnly === null && pendingFitsApp();
      return isNarrow;
    },
    position() {
      const lastAckedSequence = outbox.lastAckedSequence();
      return {
        databaseIdentity: meta.databaseIdentity,
        logEpoch: meta.logEpoch,
        cursor: meta.cursor,
        cursorHash: meta.cursorHash,
        lastAckedSequence,
        decidedHash: changelog.findHash(lastAckedSequence) ?? FIRST_PREVIOUS_HASH,
        lastSequence: changelog.head().sequence,
        fullResync: meta.wantsFullResync || (meta.syncedWithAppSchema && !isNarrow),
      };
    },
    noteServerTime,
    greet(welcome: Welcome): WelcomeVerdict {
      bindTo(welcome.databaseIdentity);
      noteServerTime(welcome.serverNowMs);
      epochThere = welcome.logEpoch;
      isFirst = true;
      noteServedSchema();
      const verdict = judgeWelcome(welcome, {
        lastAckedSequence: outbox.lastAckedSequence(),
        lastSequence: changelog.head().sequence,
        hashOf: (sequence) => changelog.findHash(sequence),
        firstRetained: () => changelog.firstRetained(),
        hasClosedAfter: (sequence) => rejected.hasClosedAfter(sequence),
      });
      // The original of this copy may be in use: acknowledged changesets count as the original's, the rest as this
      // copy's.
      if (verdict.kind === 'fits' && meta.get('is_restored') === 1)
        return { kind: 'new-site', firstOwn: Math.max(welcome.lastAckedSequence, outbox.lastAckedSequence()) + 1 };
      if (verdict.kind === 'fits' && meta.logEpoch === null) meta.set('log_epoch', welcome.logEpoch);
      return verdict;
    },
    get isPaused() {
      return meta.isSyncPaused;
    },
    audit: toAuditDatabase({ database, pending, progress, onApplied: applied }),
    becomeNewSite: (firstOwn) => applied(becomeNewSite(database, pending, progress, firstOwn)),
    nextPush(sequence, maxBytes) {
      const batch = outbox.nextPush(sequence, maxBytes);
      if (batch === null) return null;
      const nowUs = localTime.nowUs();
      const earlier = meta.clockContact;
      const changesets = batch.changesets.map((changeset) => ({
        ...changeset,
        ageUs: ageOfStampUs(changeset.stampUs, nowUs, earlier, latestContact),
      }));
      return { ...batch, changesets, olderEpochUpTo: olderEpochUpTo() };
    },
    applyDelivery(delivery: Delivery, snapshot: SnapshotFile | null = null): boolean {
      const { touched, changes } = applyDelivery({
        connection,
        searchIndexes,
        tablesById,
        lookups,
        pending,
        progress,
        delivery,
        snapshot,
        logEpoch: epochThere,
        isFirst,
      });
      const madeAnew = retryDependentEdits(database);
      applied(
        new Set([...touched, ...madeAnew]),
        changes.filter(({ table }) => !madeAnew.has(table)),
      );
      isFirst = false;
      return madeAnew.size > 0;
    },
    counts: () => ({ pendingCount: outbox.pendingCount(), rejectedCount: rejected.count() }),
    flush: () => database.flush(),
  };
}
