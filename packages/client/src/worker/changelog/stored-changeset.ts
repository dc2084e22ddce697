import type { Changeset } from '@rockpool/shared';
import type { SqlValue } from '../../rpc/sql-value.ts';

/** A row of rockpool_changelog. */
export interface StoredChangeset extends Omit<Changeset, 'origin'> {
  readonly hash: Uint8Array;
  /** The old values, encoded. */
  readonly before: Uint8Array;
  readonly shiftUs: number;
  /** Encoded; null if there is none. */
  readonly origin: Uint8Array | null;
}

/** The columns of rockpool_changelog, in the order that `toStoredChangeset` reads. */
export const CHANGELOG_COLUMNS = 'sequence, stamp_us, base, hash, body, before, shift_us, origin';

export function toStoredChangeset(row: readonly SqlValue[]): StoredChangeset {
  const [sequence, stampUs, base, hash, body, before, shiftUs, origin] = row as readonly [
    number,
    number,
    number,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    number,
    Uint8Array | null,
  ];
  return { sequence, stampUs, base, hash, body, before, shiftUs, origin };
}
