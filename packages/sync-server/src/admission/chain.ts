import { changesetHash, RockpoolError, type Push, type PushedChangeset } from '@rockpool/shared';
import { nativeSha256 } from '../log/sha256.ts';
import type { SiteState } from '../log/sites.ts';

export interface HashedChangeset {
  readonly changeset: PushedChangeset;
  readonly hash: Uint8Array;
}

/**
 * The changesets of a push that are not decided yet, each with its hash. Those that are decided are left out: their
 * first outcome stands. Every number is fitted into the site's one chain of hashes:
 *
 *   decided before …, last ─► next, next + 1, …        a push may begin anywhere up to `next`
 *
 * Throws `changeset-chain-broken` for a gap, and `site-copied` where the push tells another history under decided
 * numbers: two copies of one client database have written.
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
  // Null: confirmed long ago. The hashes after it are of the same chain and tell as much.
  if (decided !== null && Buffer.compare(decided, hash) !== 0) throw new RockpoolError('site-copied', { sequence });
}
