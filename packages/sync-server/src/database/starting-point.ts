import { FIRST_PREVIOUS_HASH, RockpoolError, type Hello } from '@rockpool/shared';
import type { Principal } from '../auth/principal.ts';
import { admittedWatermarkUpTo, decidedHash } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';

/** Where a session begins. */
export interface StartingPoint {
  /** Null: the site has not written yet. */
  readonly siteNumber: number | null;
  /** The last of its changesets that is decided, and its hash. */
  readonly lastAckedSequence: number;
  readonly decidedHash: Uint8Array;
  /** The outcomes after this one are what the client is told. */
  readonly toldUpTo: number;
  /** See Reader in pull/row-delivery.ts. */
  readonly ownFrom: number;
  /**
   * The client's cursor means nothing here, or deletes above it are forgotten, or it asks for it: it gets the whole
   * state.
   */
  readonly fullResync: boolean;
  /** Everything there is will be sent. */
  readonly needsWhole: boolean;
  /** They hold a file of the whole state as it was at this watermark of this log; 0: none that is of use. */
  readonly fileWatermark: number;
  /**
   * The client has seen or confirmed, in this epoch, more than the log holds, or something else: its file was replaced
   * by an older copy.
   */
  readonly logLostSomething: boolean;
  /** What the client has of the log and what the log holds can be the same no further than this. */
  readonly commonUpTo: number;
  /**
   * The site was last pushed as by somebody else, and nothing shows yet that this is the same file. See
   * push/foreign-site.ts.
   */
  readonly isForeign: boolean;
}

/**
 * Fits what a client says of itself to the log. Throws `frame-invalid` for the server's own site id.
 * A client that is a copy finds out by `lastAckedSequence` and `decidedHash`, and asks by a push which of its
 * changesets are its own.
 */
export function startingPoint(
  file: DatabaseFile,
  site: string,
  hello: Hello,
  principal: Pick<Principal, 'id' | 'formerly'>,
): StartingPoint {
  const { log, sql, sites, logEpoch, tombstones } = file;
  if (site === SERVER_SITE) throw new RockpoolError('frame-invalid', { problem: 'reserved site id' });
  const state = sites.get(site);
  const lastAckedSequence = state?.lastSequence ?? 0;
  const isForeign = state !== undefined && !isOwnSite(file, state, hello, principal);
  const isOfAnotherLog =
    hello.cursor <= log.watermark && Buffer.compare(hello.cursorHash, log.hashAt(hello.cursor)) !== 0;
  const isAhead = hello.cursor > log.watermark || hello.lastAckedSequence > lastAckedSequence || isOfAnotherLog;
  const isOfThisEpoch = hello.logEpoch !== null && Buffer.compare(hello.logEpoch, logEpoch.id) === 0;
  // Whoever has neither been told of a row nor written one has none to forget.
  const hasRows = hello.cursor > 0 || state !== undefined;
  const isBehindHorizon = hasRows && hello.cursor < tombstones.tombstoneHorizon;
  const fullResync = hello.fullResync || isAhead || isBehindHorizon || (hello.logEpoch !== null && !isOfThisEpoch);
  return {
    siteNumber: state?.number ?? null,
    lastAckedSequence,
    decidedHash: state === undefined || isForeign ? FIRST_PREVIOUS_HASH : state.lastHash,
    // Confirmed outcomes are forgotten. A client that asks for them is a copy, and sees by the gap that they are not
    // its own.
    toldUpTo: Math.min(lastAckedSequence, Math.max(hello.lastAckedSequence, state?.confirmedSequence ?? 0)),
    ownFrom: state === undefined ? 0 : admittedWatermarkUpTo(sql, state, hello.lastAckedSequence),
    fullResync,
    needsWhole: fullResync || hello.cursor === 0,
    fileWatermark: fileWatermark(file, hello.snapshot),
    // Somebody else's word about this site is worth nothing yet.
    logLostSomething: isAhead && isOfThisEpoch && !isForeign,
    commonUpTo: isOfAnotherLog ? hello.cursor - 1 : log.watermark,
    isForeign,
  };
}

/**
 * A file of another log has other rows, and from below the floor nobody can say any more which of its rows are gone.
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
 * A site belongs to the principal that it pushed as last. Somebody else goes on with it who had that name before, or
 * who has its file, which they show by the hash of a changeset that is decided: other members of the database see site
 * ids, but no hashes.
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
