import { RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { purgeConflicts } from '../ledger/purge-conflicts.ts';
import type { Retention } from '../log/retention.ts';
import { confirmOutcomes, decidedHash, forgetOldHashes } from '../log/outcomes.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { admitChangeset, type Sender } from './admit-changeset.ts';
import { undecidedChangesets } from './chain.ts';
import { judgeForeignPush } from './foreign-site.ts';
import { baseInEpoch, cellBaseInEpoch } from './older-epoch.ts';

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
  readonly decidedUpTo: number;
}

/**
 * Group commit: everything that waits goes into one transaction, the caller's, so that all of it shares one fsync. Returns, for each push, why it was refused
 * as a whole, or null; outcomes are in the file then. **Nothing may be told to anybody before that transaction is durable.** A push is asked for
 * when its turn comes, after those before it.
 */
export function admitPushes(file: DatabaseFile, rules: AdmissionRules, pushes: readonly (() => WaitingPush)[], confirms: Iterable<WaitingConfirm>): (RockpoolError | null)[] {
  for (const { site, cursor, decidedUpTo } of confirms) {
    const state = file.sites.get(site);
    if (state !== undefined) file.sites.save(confirmOutcomes(file.sql, state, cursor, decidedUpTo));
  }
  const since = file.log.watermark;
  let nowMs = 0;
  const refusals = pushes.map((take) => {
    const waiting = take();
    nowMs = waiting.sender.receivedMs;
    return admitPush(file, rules, waiting);
  });
  // What is forgotten is forgotten under a watermark, which takes something that was admitted.
  if (file.log.watermark > since) forget(file, rules.retention, since, nowMs);
  return refusals;
}

function forget(file: DatabaseFile, retention: Retention, since: number, nowMs: number): void {
  purgeConflicts(file, retention, since, nowMs);
  file.tombstones.prune(nowMs - retention.tombstonesMs, since);
}

function admitPush(file: DatabaseFile, rules: AdmissionRules, { site, push, sender }: WaitingPush): RockpoolError | null {
  let state = file.sites.getOrCreate(site, sender.principal);
  try {
    if (sender.isForeign && state.principal !== sender.principal) {
      const foreign = state;
      judgeForeignPush(foreign, push, (sequence) => decidedHash(file.sql, foreign, sequence), () => file.sites.save({ ...foreign, principal: sender.principal }));
    }
    const seen = (changeset: PushedChangeset): number => baseInEpoch(push, changeset, file.epoch.startedAt);
    const ahead = push.changesets.find((changeset) => seen(changeset) > file.log.watermark);
    if (ahead !== undefined) throw new RockpoolError('cursor-ahead', { base: ahead.base, watermark: file.log.watermark });
    const before = state;
    const undecided = undecidedChangesets(before, push, (sequence) => decidedHash(file.sql, before, sequence));
    for (const linked of undecided) state = admitChangeset(file, rules, state, { ...linked, base: seen(linked.changeset), cellBase: cellBaseInEpoch(push, linked.changeset) }, sender);
    if (undecided.length > 0) {
      file.sites.save(state);
      forgetOldHashes(file.sql, state, sender.receivedMs);
    }
    return null;
  } catch (error) {
    if (error instanceof RockpoolError && REFUSALS.has(error.code)) return error;
    throw error;
  }
}

// Thrown before the first changeset of the push is touched.
const REFUSALS: ReadonlySet<string> = new Set(['auth-site-confirmed', 'auth-site-refused', 'changeset-chain-broken', 'cursor-ahead', 'site-copied']);
