import type { BeforeGroup, CellBase, ChangeGroup, ErrorData } from '@rockpool/shared';

/** A decoded changeset of the changelog, with old values. */
export interface DecodedChangeset {
  readonly sequence: number;
  /** Differs between the changesets of a file, and stays the same under a new site id. */
  readonly stampUs: number;
  /** The device's wall clock at the time of the write. */
  readonly writtenMs: number;
  readonly base: number;
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  readonly before: readonly BeforeGroup[];
  readonly cellBases: readonly CellBase[];
}

/** A rejected changeset with the reason for its rejection. */
export interface StoredRejection {
  readonly changeset: DecodedChangeset;
  readonly error: ErrorData;
  readonly rejectedMs: number;
}

/** See Meta. */
export interface WantsFullResync {
  readonly wantsFullResync: boolean;
}

/**
 * What the code that load-changelog-code.ts loads uses of changelog, outbox and rejected changesets. They load it, so
 * it imports none of them.
 */
export interface ChangesetSources {
  readonly changelog: {
    head(): { readonly sequence: number };
    readAfter(sequence: number): Iterable<DecodedChangeset>;
  };
  readonly outbox: { lastAckedSequence(): number };
  readonly meta: WantsFullResync;
  readonly rejected: {
    list(): readonly StoredRejection[];
    isUndecided(stored: StoredRejection, lastAckedSequence: number, meta: WantsFullResync): boolean;
    withdrawnAfter(after: number): ReadonlySet<number>;
    isClosed(sequence: number): boolean;
  };
}
