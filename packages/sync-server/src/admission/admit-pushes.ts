import { RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { DocumentWorkNeeded } from '../documents/document-desk.ts';
import type { DocumentWork } from '../documents/document-work.ts';
import { purgeConflicts } from '../conflict-log/purge-conflicts.ts';
import type { Retention } from '../log/retention.ts';
import { findEarlierSites } from '../log/earlier-sites.ts';
import { pruneOrigins } from '../log/origins.ts';
import { confirmOutcomes, decidedHash, pruneOldHashes } from '../log/outcomes.ts';
import type { PushTrace } from '../observe/push-trace.ts';
import type { SiteState, Takeover } from '../log/sites.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { admitChangeset, type ChangesetToDecide, type Sender } from './admit-changeset.ts';
import { undecidedChangesets } from './chain.ts';
import { judgeForeignPush } from './foreign-site.ts';
import { baseInEpoch, isOfOlderEpoch } from './older-epoch.ts';
import { requireRoomForSite, roomToGrow } from './quotas.ts';

/**
 * If a principal that lost a site less than this time ago pushes as the site again, two principals use the site at
 * once, so one of their files is a copy.
 */
const CONTESTED_MS = 10 * 60_000;

/** A push in the queue. */
export interface WaitingPush {
  /** 32 hex digits. */
  readonly site: string;
  readonly push: Push;
  readonly sender: Sender;
  /** The trace that records the span of the push. */
  readonly trace?: PushTrace | undefined;
}

/** A site's confirmation that it has applied a delivery durably. */
export interface WaitingConfirm {
  readonly site: string;
  readonly cursor: number;
  readonly lastAckedSequence: number;
}

/** The progress of a group of pushes. */
export interface AdmittedPushes {
  /** For each finished push, in order, the reason why it was refused as a whole, or null. */
  readonly refusals: readonly (RockpoolError | null)[];
  /**
   * The document work that the next changeset waits for. When it is done, admit again, starting with the push of that
   * changeset. Null if the turn is over, or all pushes are finished.
   */
  readonly needed: DocumentWork | null;
}

/**
 * Group commit: decides all pushes in the caller's one transaction, so that they share one fsync. Stops at the first
 * work on a large document that belongs to another thread. Stores the outcomes in the file. **Nothing may be sent
 * before that transaction is durable.** Calls each push's function only after the pushes before it are decided.
 */
export function admitPushes(
  file: DatabaseFile,
  rules: AdmissionRules,
  pushes: readonly (() => WaitingPush)[],
  confirms: Iterable<WaitingConfirm>,
): AdmittedPushes {
  for (const { site, cursor, lastAckedSequence } of confirms) {
    const state = file.sites.get(site);
    if (state !== undefined) file.sites.save(confirmOutcomes(file.sql, state, cursor, lastAckedSequence));
  }
  const since = file.log.watermark;
  let nowMs = 0;
  const refusals: (RockpoolError | null)[] = [];
  let needed: DocumentWork | null = null;
  const turn = new Turn(rules.turnMs);
  for (const take of pushes) {
    if (refusals.length > 0 && turn.isOver) break;
    const waiting = take();
    nowMs = waiting.sender.receivedMs;
    const stop = admitPush(file, rules, waiting, turn);
    if (stop === TURN_OVER) break;
    if (stop instanceof DocumentWorkNeeded) {
      needed = stop.work;
      break;
    }
    refusals.push(stop);
  }
  // Pruning advances the tombstone horizon to a watermark, so it needs an admitted changeset.
  if (file.log.watermark > since) forget(file, rules.retention, since, nowMs);
  return { refusals, needed };
}

/** Limits the time of one commit. Once it is over, no further changeset is decided in this commit. */
class Turn {
  private readonly endsMs: number;

  constructor(turnMs: number = Infinity) {
    this.endsMs = performance.now() + turnMs;
  }

  get isOver(): boolean {
    return performance.now() > this.endsMs;
  }
}

/** The turn is over. The remaining changesets of the push are decided in the next turn. */
const TURN_OVER = Symbol('turn over');
type Stop = RockpoolError | DocumentWorkNeeded | typeof TURN_OVER;

function forget(file: DatabaseFile, retention: Retention, since: number, nowMs: number): void {
  purgeConflicts(file, retention, since, nowMs);
  pruneOrigins(file.sql, nowMs);
  file.tombstones.prune(retention.tombstonesMs, since, nowMs);
  file.history.prune(nowMs);
}

/**
 * Returns null if the push is finished. Otherwise returns the reason of a refusal, the document work to do first, or
 * TURN_OVER.
 */
function admitPush(file: DatabaseFile, rules: AdmissionRules, waiting: WaitingPush, turn: Turn): Stop | null {
  if (waiting.sender.isRevoked?.() === true) return new RockpoolError('auth-forbidden');
  const known = file.sites.get(waiting.site);
  const before = known ?? file.sites.create(waiting.site, waiting.sender.principal);
  const stop = admitPushOf(before, file, rules, waiting, turn);
  // Forgets a site without changesets: a client could fill the file with invented sites that never write.
  if (known === undefined && file.sites.get(waiting.site)?.lastSequence === 0) file.sites.remove(before);
  return stop;
}

/** Whether the site was recently transferred to its current principal. */
function wasTakenOver(takeover: Takeover | undefined, principal: string, nowMs: number): boolean {
  return takeover !== undefined && takeover.by === principal && Math.abs(nowMs - takeover.atMs) < CONTESTED_MS;
}

function admitPushOf(
  before: SiteState,
  file: DatabaseFile,
  rules: AdmissionRules,
  { push, sender }: WaitingPush,
  turn: Turn,
): Stop | null {
  try {
    if (before.lastSequence === 0) requireRoomForSite(file, sender.principal, rules.quotas);
    const beganUnwritten = sender.beganUnwritten === true && before.lastSequence > 0;
    if ((sender.isForeign || beganUnwritten) && before.principal !== sender.principal) {
      judgeForeignPush(
        before,
        push,
        (sequence) => decidedHash(file.sql, before, sequence),
        () => {
          file.sites.save({ ...before, principal: sender.principal });
          file.sites.takeovers.set(before.site, { by: sender.principal, atMs: sender.receivedMs });
        },
        // Another principal has written as the site since the session began, so both use the file at once.
        beganUnwritten || wasTakenOver(file.sites.takeovers.get(before.site), before.principal, sender.receivedMs),
      );
    }
    const seen = (changeset: PushedChangeset): number => baseInEpoch(push, changeset, file.logEpoch.startedAt);
    const ahead = push.changesets.find((changeset) => seen(changeset) > file.log.watermark);
    if (ahead !== undefined)
      throw new RockpoolError('cursor-ahead', { base: ahead.base, watermark: file.log.watermark });
    const undecided = undecidedChangesets(before, push, (sequence) => decidedHash(file.sql, before, sequence));
    const room = roomToGrow(
      file,
      undecided.map(({ changeset }) => changeset),
      rules.quotas,
      rules.room,
    );
    if (room.admitted === 0 && room.refusal !== null) throw room.refusal;
    const earlierSites = findEarlierSites(file.sql, push.earlierSites);
    const toDecide = undecided.slice(0, room.admitted).map((linked, index) => ({
      ...linked,
      base: seen(linked.changeset),
      earlierSites: earlierSites.filter(({ upTo }) => linked.changeset.sequence <= upTo),
      isOfOlderEpoch: isOfOlderEpoch(push, linked.changeset),
      isFollowed: index < undecided.length - 1,
    }));
    const { site: after, needed } = admitChangesets(file, rules, before, toDecide, sender, turn);
    if (after !== before) {
      file.sites.save(after);
      pruneOldHashes(file.sql, after, sender.receivedMs);
    }
    return needed ?? room.refusal;
  } catch (error) {
    if (error instanceof RockpoolError && REFUSALS.has(error.code)) return error;
    throw error;
  }
}

/** Decides changesets in order, up to one that waits for another thread. */
function admitChangesets(
  file: DatabaseFile,
  rules: AdmissionRules,
  before: SiteState,
  changesets: readonly ChangesetToDecide[],
  sender: Sender,
  turn: Turn,
): { readonly site: SiteState; readonly needed: DocumentWorkNeeded | typeof TURN_OVER | null } {
  let site = before;
  try {
    for (const [index, changeset] of changesets.entries()) {
      if (index > 0 && turn.isOver) return { site, needed: TURN_OVER };
      site = admitChangeset(file, rules, site, changeset, sender);
      // Prepared work is kept until its changeset is decided: a changeset may need several pieces of work, and
      // discovers them one at a time.
      file.documents.clear();
    }
    return { site, needed: null };
  } catch (error) {
    if (error instanceof DocumentWorkNeeded) return { site, needed: error };
    throw error;
  }
}

// Thrown before any changeset of the push is decided.
const REFUSALS: ReadonlySet<string> = new Set([
  'auth-site-confirmed',
  'auth-site-refused',
  'changeset-chain-broken',
  'cursor-ahead',
  'quota-exceeded',
  'server-disk-full',
  'site-copied',
]);
