import { RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { DocumentWorkNeeded } from '../documents/document-desk.ts';
import type { DocumentWork } from '../documents/document-work.ts';
import { purgeConflicts } from '../conflict-log/purge-conflicts.ts';
import type { Retention } from '../log/retention.ts';
import { confirmOutcomes, decidedHash, forgetOldHashes } from '../log/outcomes.ts';
import type { SiteState } from '../log/sites.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { admitChangeset, type ChangesetToDecide, type Sender } from './admit-changeset.ts';
import { undecidedChangesets } from './chain.ts';
import { judgeForeignPush } from './foreign-site.ts';
import { baseInEpoch, isOfOlderEpoch } from './older-epoch.ts';

/** A push that waits for its turn. */
export interface WaitingPush {
  /** 32 hex digits. */
  readonly site: string;
  readonly push: Push;
  readonly sender: Sender;
}

/** A site that has applied a delivery durably. */
export interface WaitingConfirm {
  readonly site: string;
  readonly cursor: number;
  readonly lastAckedSequence: number;
}

/** How far a group of pushes has come. */
export interface AdmittedPushes {
  /** For each push that is through, in order: why it was refused as a whole, or null. */
  readonly refusals: readonly (RockpoolError | null)[];
  /**
   * What the next changeset cannot be decided without, all before it being decided: the pushes from its own on are to
   * be admitted once that is at hand. Null: all are through.
   */
  readonly needed: DocumentWork | null;
}

/**
 * Group commit: everything that waits goes into one transaction, the caller's, so that all of it shares one fsync; as
 * far as the first work on a large document that another thread does. The outcomes are in the file then. **Nothing may
 * be told to anybody before that transaction is durable.** A push is asked for when its turn comes, after those before
 * it.
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
  for (const take of pushes) {
    const waiting = take();
    nowMs = waiting.sender.receivedMs;
    const stop = admitPush(file, rules, waiting);
    if (stop instanceof DocumentWorkNeeded) {
      needed = stop.work;
      break;
    }
    refusals.push(stop);
  }
  // What is forgotten is forgotten under a watermark, which takes something that was admitted.
  if (file.log.watermark > since) forget(file, rules.retention, since, nowMs);
  return { refusals, needed };
}

function forget(file: DatabaseFile, retention: Retention, since: number, nowMs: number): void {
  purgeConflicts(file, retention, since, nowMs);
  file.tombstones.prune(nowMs - retention.tombstonesMs, since);
}

/** Null: it is through. An error that says why it was refused, or what has to be done before it can go on. */
function admitPush(
  file: DatabaseFile,
  rules: AdmissionRules,
  waiting: WaitingPush,
): RockpoolError | DocumentWorkNeeded | null {
  const known = file.sites.get(waiting.site);
  const before = known ?? file.sites.create(waiting.site, waiting.sender.principal);
  const stop = admitPushOf(before, file, rules, waiting);
  // Whoever makes up sites would fill the file with those that have never written.
  if (known === undefined && file.sites.get(waiting.site)?.lastSequence === 0) file.sites.remove(before);
  return stop;
}

function admitPushOf(
  before: SiteState,
  file: DatabaseFile,
  rules: AdmissionRules,
  { push, sender }: WaitingPush,
): RockpoolError | DocumentWorkNeeded | null {
  try {
    if (sender.isForeign && before.principal !== sender.principal) {
      judgeForeignPush(
        before,
        push,
        (sequence) => decidedHash(file.sql, before, sequence),
        () => file.sites.save({ ...before, principal: sender.principal }),
      );
    }
    const seen = (changeset: PushedChangeset): number => baseInEpoch(push, changeset, file.logEpoch.startedAt);
    const ahead = push.changesets.find((changeset) => seen(changeset) > file.log.watermark);
    if (ahead !== undefined)
      throw new RockpoolError('cursor-ahead', { base: ahead.base, watermark: file.log.watermark });
    const undecided = undecidedChangesets(before, push, (sequence) => decidedHash(file.sql, before, sequence));
    const toDecide = undecided.map((linked, index) => ({
      ...linked,
      base: seen(linked.changeset),
      isOfOlderEpoch: isOfOlderEpoch(push, linked.changeset),
      isFollowed: index < undecided.length - 1,
    }));
    const { site: after, needed } = admitChangesets(file, rules, before, toDecide, sender);
    if (after !== before) {
      file.sites.save(after);
      forgetOldHashes(file.sql, after, sender.receivedMs);
    }
    return needed;
  } catch (error) {
    if (error instanceof RockpoolError && REFUSALS.has(error.code)) return error;
    throw error;
  }
}

/** One after the other, as far as that goes without another thread. */
function admitChangesets(
  file: DatabaseFile,
  rules: AdmissionRules,
  before: SiteState,
  changesets: readonly ChangesetToDecide[],
  sender: Sender,
): { readonly site: SiteState; readonly needed: DocumentWorkNeeded | null } {
  let site = before;
  try {
    for (const changeset of changesets) {
      site = admitChangeset(file, rules, site, changeset, sender);
      // What was prepared for it. Until then all of that stays: a changeset may need several pieces of work, and meets
      // them one by one.
      file.documents.clear();
    }
    return { site, needed: null };
  } catch (error) {
    if (error instanceof DocumentWorkNeeded) return { site, needed: error };
    throw error;
  }
}

// Thrown before the first changeset of the push is touched.
const REFUSALS: ReadonlySet<string> = new Set([
  'auth-site-confirmed',
  'auth-site-refused',
  'changeset-chain-broken',
  'cursor-ahead',
  'site-copied',
]);
