import { changesetHash, RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { nativeSha256 } from '../log/sha256.ts';
import type { SiteState } from '../log/sites.ts';

export interface HashedChangeset {
  readonly changeset: PushedChangeset;
  readonly hash: Uint8Array;
}

/**
 * Returns the undecided changesets of a push, each with its hash. Leaves out decided ones, whose first outcome counts.
 * Checks every sequence against the site's one chain of hashes:
 *
 *   decided before …, last ─► next, next + 1, …        a push may begin anywhere up to `next`
 *
 * Throws `changeset-chain-broken` for a gap, and `site-copied` when decided sequences have other hashes in the push: two
 * copies of one client database have written.
 */
export function undecidedChangesets(
  site: SiteState,
  push: Push,
  decidedHash: (sequence: number) => Uint8Array | null,
): HashedChangeset[] {
  const first = push.changesets[0]?.sequence ?? 0;
  const next = site.lastSequence + 1;
  if (first > next) throw new RockpoolError('changeset-chain-broken', { expected: next, received: first });
  checkHash(first - 1, push.previousHash, decidedHash);
  const undecided: HashedChangeset[] = [];
  let hash = push.previousHash;
  for (const changeset of push.changesets) {
    hash = changesetHash(hash, changeset, nativeSha256);
    if (changeset.sequence < next) checkHash(changeset.sequence, hash, decidedHash);
    else undecided.push({ changeset, hash });
  }
  return undecided;
}

function checkHash(sequence: number, hash: Uint8Array, decidedHash: (sequence: number) => Uint8Array | null): void {
  const decided = decidedHash(sequence);
  // Null: confirmed and deleted. Later hashes are of the same chain and prove as much.
  if (decided !== null && Buffer.compare(decided, hash) !== 0) throw new RockpoolError('site-copied', { sequence });
}
