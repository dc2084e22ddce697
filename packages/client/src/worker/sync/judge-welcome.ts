import { cellValuesEqual, FIRST_PREVIOUS_HASH, type Welcome } from '@rockpool/shared';

/** How a server's welcome fits the local state. */
export type WelcomeVerdict =
  | { readonly kind: 'fits' }
  /**
   * This database continues as a new site, but only after the first delivery has brought the outcomes that it lacks.
   * The new site would never receive them, so a rejected changeset would be lost.
   */
  | { readonly kind: 'outcomes-first' }
  /**
   * Another copy of this file has used its sequences. Only the server can determine which changesets the two copies
   * share: it receives those of this copy after `pushAfter` and names the first one that differs.
   */
  | { readonly kind: 'copied'; readonly pushAfter: number }
  /** This database continues as a new site, with the changesets from `firstOwn` on. */
  | { readonly kind: 'new-site'; readonly firstOwn: number };

/** The local state. */
export interface OwnChangesets {
  /** The last changeset whose outcome was applied. */
  readonly lastAckedSequence: number;
  readonly lastSequence: number;
  /** Null if it was never written or has been pruned. */
  hashOf(sequence: number): Uint8Array | null;
  /**
   * The start of the gapless run of changesets of the current principal that ends with the newest; `lastSequence + 1`
   * if there is none.
   */
  firstRetained(): number;
  /** Whether the user has resolved rejected changesets after `sequence`, which must not be sent again. */
  hasResolvedAfter(sequence: number): boolean;
}

/**
 * 1. The hash of the last acknowledged changeset shows whether the server has the same changesets as this database.
 * 2. A server that was restored from an older backup receives the lost changesets again from the changelog. If the
 *    changelog is no longer complete, the rest is sent under a new site.
 */
export function judgeWelcome(
  welcome: Pick<Welcome, 'lastAckedSequence' | 'decidedHash' | 'fullResync'>,
  own: OwnChangesets,
): WelcomeVerdict {
  const there = welcome.lastAckedSequence;
  const hash = there === 0 ? FIRST_PREVIOUS_HASH : own.hashOf(there);
  if (there > own.lastSequence || (hash !== null && !cellValuesEqual(hash, welcome.decidedHash))) {
    // Without a changeset to send, this database cannot ask the server for the first one that differs.
    if (own.lastSequence === 0) return { kind: 'new-site', firstOwn: 1 };
    // A restored server may have other changesets under acknowledged sequences too, if a copy has sent its own again.
    if (there > own.lastAckedSequence && !welcome.fullResync) {
      return own.lastSequence === own.lastAckedSequence
        ? { kind: 'new-site', firstOwn: own.lastSequence + 1 }
        : { kind: 'copied', pushAfter: own.lastAckedSequence };
    }
    const first = own.firstRetained();
    if (first === 1) return { kind: 'copied', pushAfter: 0 };
    // The server compares a push only if it continues what it has. Above that, every changeset is this database's own.
    return first <= there && first < own.lastSequence
      ? { kind: 'copied', pushAfter: first }
      : { kind: 'new-site', firstOwn: first };
  }
  if (there >= own.lastAckedSequence) return { kind: 'fits' };
  const isComplete = hash !== null && own.firstRetained() <= there + 1 && !own.hasResolvedAfter(there);
  return isComplete ? { kind: 'fits' } : { kind: 'new-site', firstOwn: Math.max(there + 1, own.firstRetained()) };
}
