import type { Push, PushedChangeset } from '@rockpool/shared';

/**
 * The watermark of this log up to which the author of a changeset had seen rows. The base of a changeset from an older
 * log epoch counts only up to the start of this log epoch: above it, the same watermarks stand for different
 * changesets.
 */
export function baseInEpoch(
  push: Pick<Push, 'olderEpochUpTo'>,
  changeset: PushedChangeset,
  epochStartedAt: number,
): number {
  return isOfOlderEpoch(push, changeset) ? Math.min(changeset.base, epochStartedAt) : changeset.base;
}

/**
 * Whether a changeset was written under an older log epoch. Its author counts as having seen no value of other sites,
 * because it is unknown where the two logs diverge: other sites may have written between the restore and its detection,
 * or the log may have been restored twice. The later stamp wins, and the conflict log keeps the replaced value even if
 * the author had seen it.
 *
 * With base 0 the author had received nothing from any log, so its rows can only be its own in this one, too.
 */
export function isOfOlderEpoch(
  { olderEpochUpTo }: Pick<Push, 'olderEpochUpTo'>,
  { sequence, base }: PushedChangeset,
): boolean {
  return base > 0 && sequence <= olderEpochUpTo;
}
