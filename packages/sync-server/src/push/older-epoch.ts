import type { Push, PushedChangeset } from '@rockpool/shared';

/**
 * What the author of a changeset had seen of this log. The base of one that was written under an older epoch counts only up to where this
 * epoch began: the watermarks after it are other changesets than those that the author means.
 */
export function baseInEpoch({ olderEpochUpTo }: Pick<Push, 'olderEpochUpTo'>, { sequence, base }: PushedChangeset, epochStartedAt: number): number {
  return sequence <= olderEpochUpTo ? Math.min(base, epochStartedAt) : base;
}
