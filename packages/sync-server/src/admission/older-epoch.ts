import type { Push, PushedChangeset } from '@rockpool/shared';

/**
 * What the author of a changeset had seen of this log, as far as rows are concerned. The base of one that was written
 * under an older epoch counts only up to where this epoch began: the watermarks after it are other changesets than
 * those that the author means.
 */
export function baseInEpoch(
  push: Pick<Push, 'olderEpochUpTo'>,
  changeset: PushedChangeset,
  epochStartedAt: number,
): number {
  return isOfOlderEpoch(push, changeset) ? Math.min(changeset.base, epochStartedAt) : changeset.base;
}

/**
 * Of such a changeset the author counts as having seen no value of anybody else: where the logs of the two epochs part
 * is not known. It may lie before the moment at which the restore was noticed, and others may have written in between,
 * or the log was restored twice since. The later stamp wins, and what it replaces is in the ledger, even where it was
 * in fact seen.
 */
export function isOfOlderEpoch(
  { olderEpochUpTo }: Pick<Push, 'olderEpochUpTo'>,
  { sequence }: PushedChangeset,
): boolean {
  return sequence <= olderEpochUpTo;
}
