import { FIRST_PREVIOUS_HASH, RockpoolError, type Hello } from '@rockpool/shared';
import type { Principal } from '../auth/principal.ts';
import { admittedWatermarkUpTo, decidedHash } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';

/** Where in the log a session begins. */
export interface StartingPoint {
  /** Null if the site has not written yet. */
  readonly siteNumber: number | null;
  /** The last acknowledged sequence of the site, and that changeset's hash. */
  readonly lastAckedSequence: number;
  readonly decidedHash: Uint8Array;
  /** The client lacks the outcomes after this sequence. */
  readonly outcomesUpTo: number;
  /** See Reader in pull/row-delivery.ts. */
  readonly ownFrom: number;
  /**
   * The client needs a full resync: its cursor belongs to a different log, or is below the tombstone horizon, or the
   * client asks for it.
   */
  readonly fullResync: boolean;
  /** The client needs the full state: a full resync, or its first sync. */
  readonly needsWhole: boolean;
  /** The watermark of a usable snapshot of this log that the client holds; 0 for none. */
  readonly fileWatermark: number;
  /**
   * The client has proved that it has seen entries of this log epoch that the log lacks: the database file was replaced
   * by an older copy.
   */
  readonly logLostSomething: boolean;
  /**
   * The client claims to be ahead of this log and cannot prove it. Only this client starts over: its watermarks are
   * treated like those of an older log epoch.
   */
  readonly isUnproven: boolean;
  /** The highest watermark up to which the client's log and this log may be equal. */
  readonly commonUpTo: number;
  /**
   * Another principal pushed last as this site, and the client has not proved yet that it has the same file. See
   * admission/foreign-site.ts.
   */
  readonly isForeign: boolean;
  /** The principal, or a former id of it, has written as this site, or has proved to have its file. */
  readonly ownsSite: boolean;
}

/**
 * Compares a hello with the log. A copied client detects that it is a copy by `lastAckedSequence` and `decidedHash`,
 * and finds out by a push which changesets are its own. Throws `frame-invalid` for the server's own site id.
 */
export function startingPoint(
  file: DatabaseFile,
  site: string,
  hello: Hello,
  principal: Pick<Principal, 'id' | 'formerly'>,
): StartingPoint {
  const { log, sql, sites, logEpoch, tombstones } = file;
  if (site === SERVER_SITE)
    throw new RockpoolError('frame-invalid', { problem: 'the site id is reserved for the server' });
  const state = sites.get(site);
  const lastAckedSequence = state?.lastSequence ?? 0;
  const isForeign = state !== undefined && !isOwnSite(file, state, hello, principal);
  const isOfAnotherLog =
    hello.cursor <= log.watermark && Buffer.compare(hello.cursorHash, log.hashAt(hello.cursor)) !== 0;
  const isAhead = hello.cursor > log.watermark || hello.lastAckedSequence > lastAckedSequence || isOfAnotherLog;
  const hasLost = hello.cursor > log.watermark || isOfAnotherLog ? log.hasLost(hello.cursor, hello.cursorHash) : false;
  const isOfThisEpoch = hello.logEpoch !== null && Buffer.compare(hello.logEpoch, logEpoch.id) === 0;
  // A client that has neither received nor written a row has no row that could be deleted.
  const hasRows = hello.cursor > 0 || state !== undefined;
  const isBehindHorizon = hasRows && hello.cursor < tombstones.tombstoneHorizon;
  const fullResync = hello.fullResync || isAhead || isBehindHorizon || (hello.logEpoch !== null && !isOfThisEpoch);
  return {
    siteNumber: state?.number ?? null,
    lastAckedSequence,
    decidedHash: state === undefined || isForeign ? FIRST_PREVIOUS_HASH : state.lastHash,
    // Outcomes that the client confirmed are deleted. A client that lacks them is a copy, which sees from the gap that
    // those changesets are not its own.
    outcomesUpTo: Math.min(lastAckedSequence, Math.max(hello.lastAckedSequence, state?.confirmedSequence ?? 0)),
    ownFrom: state === undefined ? 0 : admittedWatermarkUpTo(sql, state, hello.lastAckedSequence),
    fullResync,
    needsWhole: fullResync || hello.cursor === 0,
    fileWatermark: fileWatermark(file, hello.snapshot),
    logLostSomething: isOfThisEpoch && hasLost,
    isUnproven: isOfThisEpoch && isAhead && !hasLost,
    commonUpTo: isOfAnotherLog ? hello.cursor - 1 : log.watermark,
    isForeign,
    ownsSite: state !== undefined && state.lastSequence > 0 && !isForeign,
  };
}

/**
 * The watermark of the client's snapshot. 0 if the snapshot belongs to a different log, or is below the tombstone
 * horizon, below which deletes are unknown.
 */
function fileWatermark({ log, logEpoch, tombstones }: DatabaseFile, snapshot: Hello['snapshot']): number {
  if (typeof snapshot === 'string') return 0;
  const { watermark, logHash } = snapshot;
  const isOfThisLog =
    Buffer.compare(snapshot.logEpoch, logEpoch.id) === 0 &&
    watermark <= log.watermark &&
    Buffer.compare(logHash, log.hashAt(watermark)) === 0;
  return isOfThisLog && watermark >= tombstones.tombstoneHorizon ? watermark : 0;
}

/**
 * A site belongs to its last principal. A principal with a former id, or with the site's file, takes it over. The hash
 * of a decided changeset proves possession of the file: other members of the database see site ids, but no hashes.
 */
function isOwnSite(
  { sql }: DatabaseFile,
  site: SiteState,
  hello: Pick<Hello, 'lastAckedSequence' | 'decidedHash'>,
  { id, formerly = [] }: Pick<Principal, 'id' | 'formerly'>,
): boolean {
  if (site.lastSequence === 0 || site.principal === id || formerly.includes(site.principal)) return true;
  const known = hello.lastAckedSequence === 0 ? null : decidedHash(sql, site, hello.lastAckedSequence);
  return known !== null && Buffer.compare(known, hello.decidedHash) === 0;
}
