import { EXISTENCE_COLUMN_ID } from '@rockpool/shared';
import type { RowVersions, StoredVersion } from '../store/row-version-codec.ts';

/** Who a delivery is for, and what they have. */
export interface Reader {
  /** Null: a site that has never written. */
  readonly siteNumber: number | null;
  /** The watermark they have applied. */
  readonly from: number;
  /**
   * The watermark of their last changeset whose outcome they have applied. What they wrote after it is told to them by
   * its outcome; what they wrote before it is state like any other (they ask for it again only when they start over).
   */
  readonly ownFrom: number;
}

/** What a delivery says about one row. */
export type RowDelivery =
  | { readonly kind: 'insert' }
  | { readonly kind: 'update'; readonly columnIds: readonly number[] }
  | { readonly kind: 'delete' }
  | null;

/**
 * Decides what a reader must be told about a row (undefined: there is none of this key) to have its state. Pure.
 * `corrected`: cells that came out otherwise than the reader sent; they are told however old their versions are.
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
    // A site that has never written had only what was delivered: it needs not hear that a row is gone which it never
    // got.
    const mayHaveIt = bornAt <= reader.from || reader.siteNumber !== null;
    return isUpdate(deleted, reader) && mayHaveIt ? { kind: 'delete' } : null;
  }
  if (wholeRow || isUpdate(inserted, reader) || (revived !== null && isUpdate(revived, reader)))
    return { kind: 'insert' };
  const told = columnIds.filter((columnId) => {
    const version = cells.get(columnId);
    return corrected.includes(columnId) || (version !== undefined && isUpdate(version, reader));
  });
  return told.length > 0 ? { kind: 'update', columnIds: told } : null;
}

function isUpdate({ watermark, siteNumber }: StoredVersion, { siteNumber: own, from, ownFrom }: Reader): boolean {
  return watermark > from && !(siteNumber === own && watermark > ownFrom);
}
