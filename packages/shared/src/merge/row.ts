import { cellValuesEqual, type CellValue } from '../change/cell-value.ts';
import { EXISTENCE_COLUMN_ID, type ChangeKind } from '../change/changeset.ts';
import { compareVersions, hasSeen, type Version } from './version.ts';

export interface Cell {
  readonly value: CellValue;
  readonly version: Version;
}

/**
 * One row as the server holds it, dead or alive.
 *
 * `inserted` is the version of the insert that this row comes from: its incarnation. Two inserts of one key are two
 * incarnations, and one of them wins as a whole. Updates and deletes reach only an incarnation that their author had seen.
 */
export interface StoredRow {
  readonly inserted: Version;
  /** Null while the row is there. The cells of a deleted row are kept: the tombstone's image. */
  readonly deleted: Version | null;
  readonly cells: ReadonlyMap<number, Cell>;
}

/** What one changeset does to one row. */
export interface RowChange {
  readonly kind: ChangeKind;
  /** insert: every column outside the key; update: those that changed; delete: none. */
  readonly values: ReadonlyMap<number, CellValue>;
  readonly version: Version;
  /** The watermark the author had seen, for a column or (EXISTENCE_COLUMN_ID) for the row as a whole. */
  readonly baseOf: (columnId: number) => number;
}

export type MergeRule = 'lww' | 'delete-wins' | 'one-insert-wins';

/** A concurrent write that lost. `columnId` is EXISTENCE_COLUMN_ID where a delete or an insert is concerned. */
export interface Loss {
  readonly columnId: number;
  readonly rule: MergeRule;
  readonly lost: { readonly value: CellValue; readonly version: Version };
  readonly won: { readonly value: CellValue; readonly version: Version };
}

export interface RowMerge {
  /** The row afterwards; the same object as before when nothing changed. */
  readonly row: StoredRow | undefined;
  readonly losses: readonly Loss[];
  /** Columns in which the author's own copy now differs from the row: the author must be told their values. */
  readonly corrected: readonly number[];
}

/**
 * Merges one change into one stored row. Pure, and the same on server and client.
 *
 * 1. A write follows what its author had seen without a comparison of clocks (the corrected stamp is later anyway).
 * 2. Of two concurrent writes of a cell the later corrected stamp wins, ties by site id.
 * 3. Of two concurrent inserts of one key one whole row wins, by the same order.
 * 4. A delete wins against concurrent updates of the row it deletes (`delete-wins`).
 * 5. Whatever loses to a concurrent write is returned as a loss; equal values are no loss.
 */
export function mergeRow(stored: StoredRow | undefined, change: RowChange): RowMerge {
  if (change.kind === 'insert') return mergeInsert(stored, change);
  if (stored === undefined) return { row: stored, losses: [], corrected: correctedBy(change) };
  return change.kind === 'delete' ? mergeDelete(stored, change) : mergeUpdate(stored, change);
}

function mergeInsert(stored: StoredRow | undefined, change: RowChange): RowMerge {
  const incoming = freshRow(change);
  if (stored === undefined) return { row: incoming, losses: [], corrected: [] };
  const seen = hasSeen(change.baseOf(EXISTENCE_COLUMN_ID), change.version.site, stored.inserted);
  if (seen) return { row: incoming, losses: [], corrected: [] };
  const incomingWins = compareVersions(change.version, stored.inserted) > 0;
  const [winner, loser] = incomingWins ? [incoming, stored] : [stored, incoming];
  return {
    row: winner,
    // A loser that was deleted already has nothing left to lose.
    losses: loser.deleted === null ? wholeRowLosses(loser, winner) : [],
    corrected: incomingWins ? [] : correctedBy(change),
  };
}

function mergeDelete(stored: StoredRow, change: RowChange): RowMerge {
  const base = change.baseOf(EXISTENCE_COLUMN_ID);
  if (!hasSeen(base, change.version.site, stored.inserted)) {
    // The author deleted an earlier incarnation; this row is another one.
    return { row: stored, losses: [], corrected: correctedBy(change) };
  }
  if (stored.deleted !== null) return { row: stored, losses: [], corrected: [] };
  const won = { value: null, version: change.version };
  const losses: Loss[] = [];
  for (const [columnId, cell] of stored.cells) {
    if (hasSeen(base, change.version.site, cell.version)) continue;
    losses.push({ columnId, rule: 'delete-wins', lost: cell, won });
  }
  return { row: { ...stored, deleted: change.version }, losses, corrected: [] };
}

function mergeUpdate(stored: StoredRow, change: RowChange): RowMerge {
  const { version } = change;
  const rowBase = change.baseOf(EXISTENCE_COLUMN_ID);
  if (!hasSeen(rowBase, version.site, stored.inserted)) {
    return { row: stored, losses: updateLosses(stored, change, 'one-insert-wins', stored.inserted), corrected: correctedBy(change) };
  }
  if (stored.deleted !== null) {
    return { row: stored, losses: updateLosses(stored, change, 'delete-wins', stored.deleted), corrected: correctedBy(change) };
  }
  const cells = new Map(stored.cells);
  const losses: Loss[] = [];
  const corrected: number[] = [];
  for (const [columnId, value] of change.values) {
    const before = stored.cells.get(columnId);
    const incoming: Cell = { value, version };
    if (before === undefined || hasSeen(change.baseOf(columnId), version.site, before.version)) {
      cells.set(columnId, incoming);
      continue;
    }
    const incomingWins = compareVersions(version, before.version) > 0;
    if (incomingWins) cells.set(columnId, incoming);
    else corrected.push(columnId);
    if (!cellValuesEqual(value, before.value)) {
      losses.push({ columnId, rule: 'lww', lost: incomingWins ? before : incoming, won: incomingWins ? incoming : before });
    }
  }
  return { row: { ...stored, cells }, losses, corrected };
}

function freshRow({ values, version }: RowChange): StoredRow {
  const cells = new Map<number, Cell>();
  for (const [columnId, value] of values) cells.set(columnId, { value, version });
  return { inserted: version, deleted: null, cells };
}

/** The author's copy of the whole row, or of the columns it wrote, is no longer what the server has. */
function correctedBy(change: RowChange): number[] {
  return [EXISTENCE_COLUMN_ID, ...change.values.keys()];
}

function wholeRowLosses(loser: StoredRow, winner: StoredRow): Loss[] {
  const losses: Loss[] = [];
  for (const [columnId, cell] of loser.cells) {
    const winning = winner.cells.get(columnId);
    const value = winner.deleted === null ? (winning?.value ?? null) : null;
    if (winner.deleted === null && cellValuesEqual(value, cell.value)) continue;
    losses.push({ columnId, rule: 'one-insert-wins', lost: cell, won: { value, version: winning?.version ?? winner.inserted } });
  }
  return losses;
}

function updateLosses(stored: StoredRow, change: RowChange, rule: MergeRule, by: Version): Loss[] {
  const losses: Loss[] = [];
  for (const [columnId, value] of change.values) {
    const winning = stored.deleted === null ? (stored.cells.get(columnId)?.value ?? null) : null;
    if (stored.deleted === null && cellValuesEqual(winning, value)) continue;
    losses.push({ columnId, rule, lost: { value, version: change.version }, won: { value: winning, version: by } });
  }
  return losses;
}
