import { cellValuesEqual } from '../change/cell-value.ts';
import { EXISTENCE_COLUMN_ID } from '../change/changeset.ts';
import { hasCell, hasSeenCell } from './cell.ts';
import type { LostValue, TablePolicies } from './column-policy.ts';
import { withGroupBases, withWholeGroups } from './policies/group.ts';
import { mergeLastWriter } from './policies/last-writer.ts';
import type { Cell, Conflict, MergeRule, RowChange, RowMerge, StoredRow } from './row-model.ts';
import type { RowRules } from './row-rules.ts';
import { compareVersions, hasSeen, NO_VERSION, type Version } from './version.ts';

/**
 * Merges one change into one stored row, in the same way on server and client.
 *
 * 1. A write replaces what its author had seen, without comparing clocks (its corrected stamp is later anyway).
 * 2. Of two concurrent writes of a cell, the later corrected stamp wins, with ties decided by site id. Writes of a
 *    column that accumulates are added up or merged, and none loses.
 * 3. Of two concurrent inserts of one key, one whole row wins, by the same order.
 * 4. A delete wins over a concurrent update; under `update-wins` the update wins, and the whole row comes back.
 * 5. An edit is always merged into its document, unless another document has replaced it: then the edit loses to
 *    that document.
 * 6. Every write that loses to a concurrent one is returned as a conflict. Equal values are not a conflict, unless
 *    another column of their group is in conflict.
 */
export function mergeRow(stored: StoredRow | undefined, change: RowChange, rules: RowRules): RowMerge {
  const { row, conflicts, corrected } = mergeColumns(stored, withGroupBases(change, rules.policies.together), rules);
  return { row, conflicts: withWholeGroups(conflicts, row, rules.policies.together), corrected };
}

function mergeColumns(stored: StoredRow | undefined, change: RowChange, rules: RowRules): RowMerge {
  if (change.kind === 'insert') return mergeInsert(stored, change, rules);
  if (stored === undefined) return missingRow(change, rules);
  return change.kind === 'delete' ? mergeDelete(stored, change, rules) : mergeUpdate(stored, change, rules);
}

/**
 * Merges an update or delete of a row that is not stored. Its author had seen the row, so the row existed. It was
 * deleted so long ago that its tombstone is pruned, and with it the documents that an edit would have changed.
 */
function missingRow(change: RowChange, { policies }: RowRules): RowMerge {
  const won = { value: null, version: NO_VERSION };
  const { version } = change;
  const conflicts = [...change.values].map(([columnId, value]): Conflict => {
    const lost = policies.byColumn.get(columnId)?.lost?.(value, null, version.site) ?? { value };
    return conflictOf(columnId, 'delete-wins', lost, version, won);
  });
  return { row: undefined, conflicts, corrected: correctedBy(change) };
}

function mergeInsert(stored: StoredRow | undefined, change: RowChange, { policies }: RowRules): RowMerge {
  const incoming = freshRow(change);
  if (stored === undefined) return { row: incoming, conflicts: [], corrected: [] };
  const base = change.baseOf(EXISTENCE_COLUMN_ID);
  if (hasSeen(base, change.version, stored.inserted)) {
    // Concurrent writes to the incarnation that this insert replaces are lost with it.
    const unseen =
      stored.deleted === null
        ? wholeRowConflicts(stored, incoming, policies).filter(
            ({ columnId }) => !hasSeenCell(change, columnId, stored.cells.get(columnId)),
          )
        : [];
    return { row: incoming, conflicts: unseen, corrected: [] };
  }
  const incomingWins = compareVersions(change.version, stored.inserted) > 0;
  const [winner, loser] = incomingWins ? [incoming, stored] : [stored, incoming];
  // A row that is already deleted loses nothing.
  const conflicts = loser.deleted === null ? wholeRowConflicts(loser, winner, policies) : [];
  const stands = incomingWins || (winner.deleted === null && conflicts.length === 0);
  return { row: winner, conflicts, corrected: stands ? [] : correctedBy(change) };
}

function mergeDelete(stored: StoredRow, change: RowChange, { deleteRule }: RowRules): RowMerge {
  const base = change.baseOf(EXISTENCE_COLUMN_ID);
  if (!hasSeen(base, change.version, stored.inserted)) {
    // The author deleted an earlier incarnation, so this one is kept.
    return { row: stored, conflicts: [], corrected: correctedBy(change) };
  }
  if (stored.deleted !== null) return { row: stored, conflicts: [], corrected: [] };
  const won = { value: null, version: change.version };
  // The columns that an update wrote are not stored, so the oldest cell base of the delete counts for all columns.
  const oldest = Math.min(base, ...[...stored.cells.keys()].map((columnId) => change.baseOf(columnId)));
  const unseen =
    deleteRule === 'delete-wins'
      ? []
      : [...stored.updated.values()].filter((version) => !hasSeen(oldest, change.version, version));
  const [latest] = unseen.sort((a, b) => compareVersions(b, a));
  if (latest === undefined) {
    const unseenCells = [...stored.cells].filter(([columnId, cell]) => !hasSeenCell(change, columnId, cell));
    const conflicts = unseenCells.map(([columnId, cell]): Conflict => ({
      columnId,
      rule: 'delete-wins',
      lost: cell,
      won,
    }));
    return { row: { ...stored, deleted: change.version }, conflicts, corrected: [] };
  }
  const loss: Conflict = {
    columnId: EXISTENCE_COLUMN_ID,
    rule: 'update-wins',
    lost: won,
    won: { value: null, version: latest },
  };
  return { row: stored, conflicts: [loss], corrected: [EXISTENCE_COLUMN_ID] };
}

function mergeUpdate(stored: StoredRow, change: RowChange, rules: RowRules): RowMerge {
  const { version } = change;
  const rowBase = change.baseOf(EXISTENCE_COLUMN_ID);
  if (!hasSeen(rowBase, version, stored.inserted)) {
    const conflicts = updateConflicts(stored, change, rules.policies, 'one-insert-wins', stored.inserted);
    return {
      row: stored,
      conflicts,
      corrected: stored.deleted === null && conflicts.length === 0 ? [] : correctedBy(change),
    };
  }
  if (stored.deleted === null) return mergeCells(stored, change, rules);
  if (rules.deleteRule === 'delete-wins') {
    return {
      row: stored,
      conflicts: updateConflicts(stored, change, rules.policies, 'delete-wins', stored.deleted),
      corrected: correctedBy(change),
    };
  }
  const { row, conflicts } = mergeCells({ ...stored, deleted: null, revived: version }, change, rules);
  const loss: Conflict = {
    columnId: EXISTENCE_COLUMN_ID,
    rule: 'update-wins',
    lost: { value: null, version: stored.deleted },
    won: { value: null, version },
  };
  // A delivery may have deleted the row at its author in the meantime, so the author receives the whole row.
  return { row, conflicts: [...conflicts, loss], corrected: correctedBy(change) };
}

function mergeCells(stored: StoredRow, change: RowChange, { policies, deleteRule }: RowRules): RowMerge {
  const { version } = change;
  const updated = deleteRule === 'update-wins' ? new Map(stored.updated).set(version.site, version) : stored.updated;
  const cells = new Map(stored.cells);
  const conflicts: Conflict[] = [];
  const corrected: number[] = [];
  const merging = { cells, conflicts, corrected };
  for (const [columnId, value] of change.values) {
    const before = stored.cells.get(columnId);
    const seen = hasSeenCell(change, columnId, before);
    const policy = policies.byColumn.get(columnId);
    const has = seen && (version.earlierSites === undefined || hasCell(change, columnId, before));
    const merged = policy?.merge?.({ columnId, before, value, version, seen, has, inserted: stored.inserted }) ?? null;
    if (merged === null) {
      mergeLastWriter(columnId, before, { value, version }, seen, merging);
      continue;
    }
    if (merged.cell !== undefined && merged.cell !== before) cells.set(columnId, merged.cell);
    conflicts.push(...merged.conflicts);
    if (merged.isCorrected) corrected.push(columnId);
  }
  return { row: { ...stored, updated, cells }, conflicts, corrected };
}

function conflictOf(
  columnId: number,
  rule: MergeRule,
  { value, path }: LostValue,
  version: Version,
  won: Conflict['won'],
): Conflict {
  const lost = { value, version };
  return path === undefined ? { columnId, rule, lost, won } : { columnId, path, rule, lost, won };
}

// Shared by all fresh rows, because one map for each row would take a tenth of the memory of a large changeset.
const NO_UPDATES: ReadonlyMap<string, Version> = new Map();

function freshRow({ values, version }: RowChange): StoredRow {
  const cells = new Map<number, Cell>();
  for (const [columnId, value] of values) cells.set(columnId, { value, version });
  return { inserted: version, revived: null, updated: NO_UPDATES, deleted: null, cells };
}

/**
 * The ids for `corrected` if the author's copy of the row, or of the columns that the author wrote, differs from the
 * server's.
 */
function correctedBy(change: RowChange): number[] {
  return [EXISTENCE_COLUMN_ID, ...change.values.keys()];
}

function wholeRowConflicts(loser: StoredRow, winner: StoredRow, { byColumn }: TablePolicies): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [columnId, cell] of loser.cells) {
    const winning = winner.cells.get(columnId);
    const value = winner.deleted === null ? (winning?.value ?? null) : null;
    const isEqual = winner.deleted === null && cellValuesEqual(value, cell.value);
    // The differences that one row has collected are missing in the other, even if both sums are equal. Equal values
    // with which both rows began are not lost.
    const hasMore =
      byColumn.get(columnId)?.sendsDifference === true &&
      (cell.version.watermark !== loser.inserted.watermark || winning?.version.watermark !== winner.inserted.watermark);
    if (isEqual && !hasMore) continue;
    conflicts.push({
      columnId,
      rule: 'one-insert-wins',
      lost: cell,
      won: { value, version: winning?.version ?? winner.inserted },
    });
  }
  return conflicts;
}

function updateConflicts(
  stored: StoredRow,
  change: RowChange,
  { byColumn }: TablePolicies,
  rule: MergeRule,
  by: Version,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [columnId, value] of change.values) {
    const policy = byColumn.get(columnId);
    const cell = stored.cells.get(columnId);
    const winning = stored.deleted === null ? (cell?.value ?? null) : null;
    // A lost difference is a conflict even if the sum would have been the same.
    if (stored.deleted === null && policy?.sendsDifference !== true && cellValuesEqual(winning, value)) continue;
    const lost = policy?.lost?.(value, cell?.value ?? null, change.version.site) ?? { value };
    // A cell of an existing row may be from an author who changed it after the insert.
    const won = { value: winning, version: stored.deleted === null ? (cell?.version ?? by) : by };
    conflicts.push(conflictOf(columnId, rule, lost, change.version, won));
  }
  return conflicts;
}
