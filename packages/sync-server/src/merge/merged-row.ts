import type { Conflict } from '@rockpool/shared';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import type { KnownRow } from '../store/row-store.ts';
import type { RowWrite } from './row-write.ts';

/** One row before and after a changeset. */
export interface MergedRow {
  readonly write: RowWrite;
  readonly before: KnownRow | undefined;
  /** The same object as `before` if the changeset does not change the row. */
  readonly after: KnownRow | undefined;
  readonly conflicts: readonly Conflict[];
  /** Columns in which the author's own copy differs from the merged row; see RowMerge. */
  readonly corrected: readonly number[];
}

/** Whether the row exists with the same cells as before. A reference to it may have been recorded nevertheless. */
export function isUnchanged(before: KnownRow | undefined, after: KnownRow | undefined): boolean {
  if (before === after) return true;
  return (
    before !== undefined &&
    isThere(before) &&
    isThere(after) &&
    before.row.cells === after?.row.cells &&
    before.nulled === after.nulled
  );
}

export function isThere(known: KnownRow | undefined): boolean {
  return known?.row.deleted === null;
}

/** Whether the row was deleted by a cascade, with its parent. */
export function isGoneByCascade(known: KnownRow | undefined): boolean {
  return known?.row.deleted?.site === SERVER_SITE;
}
