import { EXISTENCE_COLUMN_ID } from '@rockpool/shared';
import type { RowVersions, StoredVersion } from '../store/row-version-codec.ts';

/** The site that a delivery is for, and its state. */
export interface Reader {
  /** Null for a site that has never written. */
  readonly siteNumber: number | null;
  /** The watermark that the site has applied. */
  readonly from: number;
  /**
   * The watermark of the site's last changeset with an applied outcome. The site receives its later writes as outcomes.
   * Its earlier writes are part of the state, which it needs only when it starts over.
   */
  readonly ownFrom: number;
  /**
   * The reader may have rows that were inserted after `from`: it does not store rows and position together, so that an
   * interruption between the two repeats the delivery.
   */
  readonly mayBeAhead?: boolean;
}

/** The part of one row in a delivery; null for none. */
export type RowDelivery =
  | { readonly kind: 'insert' }
  | { readonly kind: 'update'; readonly columnIds: readonly number[] }
  | { readonly kind: 'delete' }
  | null;

/**
 * Decides which part of a row a reader needs to have its current state. `versions` is undefined if no row has the key.
 * `corrected`: columns whose merged values differ from what the reader sent; they are included however old their
 * versions are.
 */
export function rowDelivery(
  versions: RowVersions | undefined,
  columnIds: readonly number[],
  reader: Reader,
  corrected: readonly number[],
): RowDelivery {
  const wholeRow = corrected.includes(EXISTENCE_COLUMN_ID);
  if (versions === undefined) return wholeRow ? { kind: 'delete' } : null;
  const { bornAt, inserted, revived, deleted, cells } = versions;
  if (deleted !== null) {
    if (corrected.length > 0) return { kind: 'delete' };
    // A site that has never written has only delivered rows, so it needs no delete of a row that it never received.
    const mayHaveIt = bornAt <= reader.from || reader.siteNumber !== null || reader.mayBeAhead === true;
    return isUpdate(deleted, reader) && mayHaveIt ? { kind: 'delete' } : null;
  }
  if (wholeRow || isUpdate(inserted, reader) || (revived !== null && isUpdate(revived, reader)))
    return { kind: 'insert' };
  const changed = columnIds.filter((columnId) => {
    const version = cells.get(columnId);
    return corrected.includes(columnId) || (version !== undefined && isUpdate(version, reader));
  });
  return changed.length > 0 ? { kind: 'update', columnIds: changed } : null;
}

function isUpdate({ watermark, siteNumber }: StoredVersion, { siteNumber: own, from, ownFrom }: Reader): boolean {
  return watermark > from && !(siteNumber === own && watermark > ownFrom);
}
