import { cellValuesEqual, FIRST_PREVIOUS_HASH, type Welcome } from '@rockpool/shared';

/** How the welcome of a server fits what is here. */
export type WelcomeVerdict =
  | { readonly kind: 'fits' }
  /**
   * Another copy of this file has used its numbers. Which changesets both have, only the server can say: it is sent
   * those after `pushAfter`, and names the first that it knows otherwise.
   */
  | { readonly kind: 'copied'; readonly pushAfter: number }
  /** This database goes on as another site, with the changesets from `firstOwn` on. */
  | { readonly kind: 'new-site'; readonly firstOwn: number };

/** What is here. */
export interface OwnChangesets {
  /** The last one whose outcome is applied. */
  readonly lastAckedSequence: number;
  readonly lastSequence: number;
  /** Null where it was never written or has been pruned. */
  hashOf(sequence: number): Uint8Array | null;
  /** From this number on none is missing. */
  firstRetained(): number;
  /** Refused ones that the user has decided about since: they must not be sent again. */
  hasClosedAfter(sequence: number): boolean;
}

/**
 * 1. The hash of the last changeset that the server has decided tells whether it means the same changesets as this
 *    database.
 * 2. A server that was restored from an older backup is given again what it has lost, from the changelog. Where that is
 *    no longer
 *    complete, what is left of it is sent under the name of a new site.
 */
export function judgeWelcome(
  welcome: Pick<Welcome, 'lastAckedSequence' | 'decidedHash' | 'fullResync'>,
  own: OwnChangesets,
): WelcomeVerdict {
  const there = welcome.lastAckedSequence;
  const hash = there === 0 ? FIRST_PREVIOUS_HASH : own.hashOf(there);
  if (there > own.lastSequence || (hash !== null && !cellValuesEqual(hash, welcome.decidedHash))) {
    if (there > own.lastAckedSequence) {
      return own.lastSequence === own.lastAckedSequence
        ? { kind: 'new-site', firstOwn: own.lastSequence + 1 }
        : { kind: 'copied', pushAfter: own.lastAckedSequence };
    }
    const first = own.firstRetained();
    if (first === 1) return { kind: 'copied', pushAfter: 0 };
    return first < own.lastSequence ? { kind: 'copied', pushAfter: first } : { kind: 'new-site', firstOwn: first };
  }
  if (there >= own.lastAckedSequence) return { kind: 'fits' };
  const isComplete = hash !== null && own.firstRetained() <= there + 1 && !own.hasClosedAfter(there);
  return isComplete ? { kind: 'fits' } : { kind: 'new-site', firstOwn: Math.max(there + 1, own.firstRetained()) };
}
