import { changesetHash, RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { nativeSha256 } from '../log/sha256.ts';
import type { SiteState } from '../log/sites.ts';

export interface HashedChangeset {
  readonly changeset: PushedChangeset;
  readonly hash: Uint8Array;
}

/**
 * Returns the undecided changesets of a push, each with its hash. Omits decided ones, whose first outcome counts.
 * Checks every sequence against the site's one chain of hashes:
 *
 *   decided before …, last ─► next, next + 1, …        a push may begin anywhere up to `next`
 *
 * Throws `changeset-chain-broken` for a gap, and `site-copied` when decided sequences have different hashes in the
 * push, because two copies of one client database have written.
 */
export function undecidedChangesets(
  site: SiteState,
  push: Push,
  decidedHash: (sequence: number) => Uint8Array | null,
): HashedChangeset[] {
  const first = push.changesets[0]?.sequence ?? 0;
  const next = site.lastSequence + 1;
  if (first > next) throw new RockpoolError('changeset-chain-broken', { expected: next, received: first });
  const hashed = hashedChangesets(push);
  const decided = Math.min(next - first, hashed.length);
  checkDecided(first, push.previousHash, hashed.slice(0, decided), decidedHash);
  return hashed.slice(decided);
}

/**
 * Caches the hashes of each push: a push that edits large documents is admitted in many parts, and each part begins
 * with the hashes of the whole push.
 */
const hashedByPush = new WeakMap<Push, readonly HashedChangeset[]>();

function hashedChangesets(push: Push): readonly HashedChangeset[] {
  const known = hashedByPush.get(push);
  if (known !== undefined) return known;
  let hash = push.previousHash;
  const hashed = push.changesets.map((changeset) => {
    hash = changesetHash(hash, changeset, nativeSha256);
    return { changeset, hash };
  });
  hashedByPush.set(push, hashed);
  return hashed;
}

/**
 * The hash of the last decided changeset proves all changesets before it. They are compared one by one only to find the
 * first that differs.
 */
function checkDecided(
  first: number,
  previousHash: Uint8Array,
  decided: readonly HashedChangeset[],
  decidedHash: (sequence: number) => Uint8Array | null,
): void {
  const last = decided.at(-1);
  if (last !== undefined) {
    const known = decidedHash(last.changeset.sequence);
    if (known !== null && Buffer.compare(known, last.hash) === 0) return;
  }
  checkHash(first - 1, previousHash, decidedHash);
  for (const { changeset, hash } of decided) checkHash(changeset.sequence, hash, decidedHash);
}

function checkHash(sequence: number, hash: Uint8Array, decidedHash: (sequence: number) => Uint8Array | null): void {
  const decided = decidedHash(sequence);
  // A null hash belonged to a confirmed changeset and was deleted. The later hashes also prove this changeset, because
  // they are part of one chain.
  if (decided !== null && Buffer.compare(decided, hash) !== 0) throw new RockpoolError('site-copied', { sequence });
}
