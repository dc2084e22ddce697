import {
  ageOfStampUs,
  cellValuesEqual,
  FIRST_PREVIOUS_HASH,
  outlineOf,
  RockpoolError,
  syncedTables,
  type Delivery,
  type ErrorFields,
  type Schema,
  type Welcome,
} from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';
import { applyDeliveries } from '../apply/apply-delivery.ts';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import { syncProgress } from './sync-progress.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { hasKept } from '../changelog/kept-changesets.ts';
import { changelogCode } from '../changelog/load-changelog-code.ts';
import type { PushBatch } from '../changelog/outbox.ts';
import { toAuditDatabase } from '../audit/audit-database.ts';
import { retryDependentEdits } from '../write/retry-dependent-edits.ts';
import type { TableChange, TouchedTables } from '../../rpc/query-dependencies.ts';
import { lookupsByTable } from '../invalidate/table-changes.ts';
import { judgeWelcome, type WelcomeVerdict } from './judge-welcome.ts';
import { becomeNewSite } from './new-site.ts';
import { createServedSchema } from './served-schema.ts';
import { createServerTime, type ServerTime } from './server-time.ts';
import type { SyncDatabase, SyncPosition } from './sync-engine.ts';
import { Withdrawals } from './withdrawals.ts';

export interface SyncDatabaseOptions {
  readonly database: OpenDatabase;
  /** Monotonic time, independent of the wall clock. */
  readonly elapsedMs: () => number;
  /** Called after every commit, in the same task, with the tables whose rows changed. */
  readonly onApplied: (touched: TouchedTables) => void;
}

/** The local database as sync sees it. */
export function toSyncDatabase({ database, elapsedMs, onApplied }: SyncDatabaseOptions): SyncDatabase {
  const { meta, outbox, rejected } = database;
  const lookups = lookupsByTable(syncedTables(database.schema));
  const pending = new PendingIndex();
  const serverTime = createServerTime(database, elapsedMs);
  const served = createServedSchema(database);
  const bindTo = createBinding(database);
  const progress = syncProgress(database, () => serverTime.nowMs());
  const withdrawals = new Withdrawals(database, pending, progress);
  // The log epoch of the last welcome, which is stored together with the rows that belong to it.
  let epochThere: Uint8Array | null = null;
  // Stored with the next delivery: a full device that cannot store it can still send its changes.
  let { userMayWrite, tokenSub } = meta;
  let isFirst = false;

  function applied(tables: Iterable<string> = [], changes: readonly TableChange[] = []): void {
    onApplied({ tables: [...tables], changes });
  }

  return {
    get siteId() {
      return meta.siteId;
    },
    get schemaHash() {
      return served.schema.hash;
    },
    get isNarrow() {
      return served.isNarrow;
    },
    get userMayWrite() {
      return meta.userMayWrite;
    },
    tokenSub: () => tokenSub,
    mismatchFields: (fields) => mismatchFields(served.schema, fields),
    onSchemaMismatch: () => served.tryOther(),
    position: () => syncPosition(database, served.isNarrow),
    noteServerTime: (serverMs) => serverTime.note(serverMs),
    greet(welcome: Welcome, sub: string | null = null): WelcomeVerdict {
      bindTo(welcome.databaseIdentity);
      serverTime.note(welcome.serverNowMs);
      epochThere = welcome.logEpoch;
      userMayWrite = welcome.canWrite;
      tokenSub = sub ?? tokenSub;
      isFirst = true;
      withdrawals.asksServer = false;
      served.note();
      const verdict = verdictOn(database, welcome);
      applied();
      return verdict;
    },
    get isPaused() {
      return meta.isSyncPaused;
    },
    audit: toAuditDatabase({ database, pending, progress, onApplied: applied }),
    becomeNewSite: (firstOwn) =>
      applied(changeSite(database, pending, progress, { firstOwn, logEpoch: epochThere ?? meta.logEpoch })),
    withdrawals,
    nextPush: (sequence, maxBytes) => toPush(database, outbox.nextPush(sequence, maxBytes), serverTime, epochThere),
    applyDeliveries(deliveries: readonly Delivery[], snapshot: SnapshotFile | null = null): boolean {
      const received = { deliveries, snapshot, logEpoch: epochThere, isFirst };
      const { touched, changes, hasWritten } = applyAndRetry(database, { lookups, pending, progress, ...received });
      applied(touched, changes);
      isFirst = false;
      storeUser(meta, userMayWrite, tokenSub);
      return hasWritten;
    },
    counts: () => ({ pendingCount: outbox.pendingCount(), rejectedCount: rejected.count() }),
    flush: () => database.flush(),
  };
}

function changeSite(...parts: Parameters<typeof becomeNewSite>): string[] {
  const [database] = parts;
  const { siteId } = database.meta;
  const left = becomeNewSite(...parts);
  return [...left, ...changelogCode().moveNames(database, siteId)];
}

async function mismatchFields(schema: Schema, fields: ErrorFields): Promise<ErrorFields> {
  const own = outlineOf(schema);
  return (await loadPart('schema', () => import('./schema-difference.ts'))).mismatchFields(own, fields);
}

function storeUser(meta: OpenDatabase['meta'], mayWrite: boolean | null, tokenSub: string | null): void {
  if (meta.userMayWrite !== mayWrite) meta.set('user_may_write', mayWrite ? 1 : 0);
  if (meta.tokenSub !== tokenSub) meta.set('token_sub', tokenSub);
}

function toPush(
  database: OpenDatabase,
  batch: PushBatch | null,
  serverTime: ServerTime,
  epochThere: Uint8Array | null,
): ReturnType<SyncDatabase['nextPush']> {
  if (batch === null) return null;
  const older = olderEpochUpTo(database, epochThere);
  return {
    ...batch,
    changesets: withAges(database, batch.changesets, serverTime),
    olderEpochUpTo: older,
    // Bases of an older log epoch do not count, so they do not cover what earlier sites sent.
    earlierSites: database.meta.earlierSites
      .map(({ last, upTo }) => ({ last, upTo: upTo || older }))
      .filter(({ upTo }) => upTo >= (batch.changesets[0]?.sequence ?? 0)),
  };
}

type DeliveriesParts = Omit<Parameters<typeof applyDeliveries>[0], 'connection' | 'searchIndexes' | 'tablesById'>;

/**
 * Applies deliveries, then retries edits that depended on them. `hasWritten`: whether any edit was retried, so that the
 * outbox has new changesets.
 */
function applyAndRetry(
  database: OpenDatabase,
  parts: DeliveriesParts,
): { readonly touched: ReadonlySet<string>; readonly changes: readonly TableChange[]; readonly hasWritten: boolean } {
  const { connection, searchIndexes, tablesById } = database;
  const { touched, changes } = applyDeliveries({ connection, searchIndexes, tablesById, ...parts });
  const retried = retryDependentEdits(database);
  return {
    touched: new Set([...touched, ...retried]),
    changes: changes.filter(({ table }) => !retried.has(table)),
    hasWritten: retried.size > 0,
  };
}

/** The last sequence written under an earlier log epoch than the server's. */
function olderEpochUpTo({ meta, changelog }: OpenDatabase, epochThere: Uint8Array | null): number {
  const { logEpoch } = meta;
  const isOther = epochThere !== null && logEpoch !== null && !cellValuesEqual(epochThere, logEpoch);
  return isOther ? changelog.head().sequence : meta.olderEpochUpTo;
}

function withAges<Changeset extends { readonly stampUs: number }>(
  { localTime, meta }: OpenDatabase,
  changesets: readonly Changeset[],
  { latestContact }: ServerTime,
): (Changeset & { readonly ageUs: number })[] {
  const nowUs = localTime.nowUs();
  const earlier = meta.clockContact;
  return changesets.map((changeset) => ({
    ...changeset,
    ageUs: ageOfStampUs(changeset.stampUs, nowUs, earlier, latestContact),
  }));
}

function syncPosition({ meta, outbox, changelog }: OpenDatabase, isNarrow: boolean): SyncPosition {
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
}

/** Judges a welcome. Stores the server's log epoch if it is the first one. */
function verdictOn({ connection, meta, outbox, rejected, changelog }: OpenDatabase, welcome: Welcome): WelcomeVerdict {
  const verdict = judgeWelcome(welcome, {
    lastAckedSequence: outbox.lastAckedSequence(),
    lastSequence: changelog.head().sequence,
    hashOf: (sequence) => changelog.findHash(sequence),
    firstRetained: () => Math.max(changelog.firstRetained(), meta.firstOfPrincipal),
    hasResolvedAfter: (sequence) => rejected.hasResolvedAfter(sequence),
  });
  if (verdict.kind !== 'fits') return verdict;
  // The original of a restored copy may still be in use. The changesets that the server has count as the original's,
  // and the rest as this copy's.
  if (
    meta.get('is_restored') === 1 ||
    hasKept(connection, welcome.logEpoch) ||
    rejected.withdrawnAfter(welcome.lastAckedSequence).size > 0
  )
    return welcome.lastAckedSequence > outbox.lastAckedSequence()
      ? { kind: 'outcomes-first' }
      : { kind: 'new-site', firstOwn: welcome.lastAckedSequence + 1 };
  if (meta.logEpoch === null) meta.set('log_epoch', welcome.logEpoch);
  return verdict;
}

/** Binds the file to a server database. Throws `database-mismatch` if it belongs to a different one. */
function createBinding(database: OpenDatabase): (identity: Uint8Array) => void {
  const { meta } = database;
  // The binding must survive power loss before anything is sent; otherwise the same changesets could be sent to a
  // different database later.
  let isStored = true;
  return (identity) => {
    const { databaseIdentity: known } = meta;
    if (known === null) {
      meta.set('database_identity', identity);
      isStored = false;
    } else if (!cellValuesEqual(known, identity))
      throw new RockpoolError('database-mismatch', {
        problem: 'the local database belongs to a different server database',
      });
    if (isStored) return;
    database.flush();
    isStored = true;
  };
}
