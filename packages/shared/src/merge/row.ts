import { cellValuesEqual, type CellValue } from '../change/cell-value.ts';
import { EXISTENCE_COLUMN_ID } from '../change/changeset.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { addToCounter } from './counter.ts';
import type {
  Cell,
  DocumentMerge,
  Conflict,
  MergeRule,
  OverwrittenPlace,
  RowChange,
  RowMerge,
  RowRules,
  StoredRow,
} from './row-model.ts';
import { compareVersions, hasSeen, NO_VERSION, type Version } from './version.ts';
import { withGroupBases, withWholeGroups } from './whole-groups.ts';

/** The path to the document itself. */
const WHOLE_DOCUMENT = '[]';

/**
 * Merges one change into one stored row. Pure, and the same on server and client.
 *
 * 1. A write follows what its author had seen without a comparison of clocks (the corrected stamp is later anyway).
 * 2. Of two concurrent writes of a cell the later corrected stamp wins, ties by site id. Writes of a counter add up,
 *    and none loses.
 * 3. Of two concurrent inserts of one key one whole row wins, by the same order.
 * 4. A delete and a concurrent update: the delete wins, or under `update-wins` the whole row comes back.
 * 5. An edit of a document always gets into it, unless another document has taken its place: then it lost to that.
 * 6. Whatever loses to a concurrent write is returned as a loss; equal values are no loss, unless others of their group
 *    are.
 */
export function mergeRow(stored: StoredRow | undefined, change: RowChange, rules: RowRules): RowMerge {
  const { row, conflicts, corrected } = mergeColumns(stored, withGroupBases(change, rules.groups), rules);
  return { row, conflicts: withWholeGroups(conflicts, row, rules.groups), corrected };
}

function mergeColumns(stored: StoredRow | undefined, change: RowChange, rules: RowRules): RowMerge {
  if (change.kind === 'insert') return mergeInsert(stored, change, rules);
  if (stored === undefined) return missingRow(change, rules);
  return change.kind === 'delete' ? mergeDelete(stored, change, rules) : mergeUpdate(stored, change, rules);
}

/**
 * The author had the row, so it was there once: it was deleted so long ago that its tombstone is gone, and with it what
 * an edit of its document would have made.
 */
function missingRow(change: RowChange, { documents }: RowRules): RowMerge {
  const won = { value: null, version: NO_VERSION };
  const { version } = change;
  const conflicts = [...change.values].map(([columnId, value]): Conflict =>
    documents.get(columnId)?.isEdit(value) === true
      ? lostEdit(columnId, 'delete-wins', version, won)
      : { columnId, rule: 'delete-wins', lost: { value, version }, won },
  );
  return { row: undefined, conflicts, corrected: correctedBy(change) };
}

function mergeInsert(stored: StoredRow | undefined, change: RowChange, { counters }: RowRules): RowMerge {
  const incoming = freshRow(change);
  if (stored === undefined) return { row: incoming, conflicts: [], corrected: [] };
  const base = change.baseOf(EXISTENCE_COLUMN_ID);
  if (hasSeen(base, change.version.site, stored.inserted)) {
    // What others wrote meanwhile to the incarnation that this insert replaces goes with it.
    const unseen =
      stored.deleted === null
        ? wholeRowConflicts(stored, incoming, counters).filter(
            ({ columnId }) => !hasSeenCell(change, columnId, stored.cells.get(columnId)),
          )
        : [];
    return { row: incoming, conflicts: unseen, corrected: [] };
  }
  const incomingWins = compareVersions(change.version, stored.inserted) > 0;
  const [winner, loser] = incomingWins ? [incoming, stored] : [stored, incoming];
  // A loser that was deleted already has nothing left to lose.
  const conflicts = loser.deleted === null ? wholeRowConflicts(loser, winner, counters) : [];
  const stands = incomingWins || (winner.deleted === null && conflicts.length === 0);
  return { row: winner, conflicts, corrected: stands ? [] : correctedBy(change) };
}

function mergeDelete(stored: StoredRow, change: RowChange, { deleteRule }: RowRules): RowMerge {
  const base = change.baseOf(EXISTENCE_COLUMN_ID);
  const { site } = change.version;
  if (!hasSeen(base, site, stored.inserted)) {
    // The author deleted an earlier incarnation; this row is another one.
    return { row: stored, conflicts: [], corrected: correctedBy(change) };
  }
  if (stored.deleted !== null) return { row: stored, conflicts: [], corrected: [] };
  const won = { value: null, version: change.version };
  const unseen =
    deleteRule === 'delete-wins' ? [] : [...stored.updated.values()].filter((version) => !hasSeen(base, site, version));
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
  if (!hasSeen(rowBase, version.site, stored.inserted)) {
    const conflicts = updateConflicts(stored, change, rules, 'one-insert-wins', stored.inserted);
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
      conflicts: updateConflicts(stored, change, rules, 'delete-wins', stored.deleted),
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
  // The author may have been told of the delete in the meantime: it is given the whole row.
  return { row, conflicts: [...conflicts, loss], corrected: correctedBy(change) };
}

function mergeCells(stored: StoredRow, change: RowChange, { counters, documents, deleteRule }: RowRules): RowMerge {
  const { version } = change;
  const updated = deleteRule === 'update-wins' ? new Map(stored.updated).set(version.site, version) : stored.updated;
  const cells = new Map(stored.cells);
  const conflicts: Conflict[] = [];
  const corrected: number[] = [];
  for (const [columnId, value] of change.values) {
    const before = stored.cells.get(columnId);
    const seen = hasSeenCell(change, columnId, before);
    if (counters.has(columnId)) {
      cells.set(columnId, added(before, addToCounter(before?.value ?? 0n, value), version));
      if (!seen) corrected.push(columnId);
      continue;
    }
    const document = documents.get(columnId);
    if (document?.isEdit(value) === true) {
      const merged = document.merge(before?.value ?? null, value, version.site);
      if (merged === null)
        conflicts.push(lostEdit(columnId, 'lww', version, before ?? { value: null, version: stored.inserted }));
      else {
        cells.set(columnId, added(before, merged.document, version));
        conflicts.push(...merged.overwritten.map((place) => placeLoss(columnId, place, version)));
      }
      if (!seen || merged === null || !document.isEditOf(merged.document, value)) corrected.push(columnId);
      continue;
    }
    const incoming: Cell = { value, version };
    if (seen || before === undefined) {
      cells.set(columnId, incoming);
      continue;
    }
    const incomingWins = compareVersions(version, before.version) > 0;
    if (incomingWins) cells.set(columnId, incoming);
    if (cellValuesEqual(value, before.value)) continue;
    if (!incomingWins) corrected.push(columnId);
    conflicts.push({
      columnId,
      rule: 'lww',
      lost: incomingWins ? before : incoming,
      won: incomingWins ? incoming : before,
    });
  }
  return { row: { ...stored, updated, cells }, conflicts, corrected };
}

/** Whether the author of a change had seen everything that is in a cell. */
function hasSeenCell({ baseOf, version: { site } }: RowChange, columnId: number, cell: Cell | undefined): boolean {
  if (cell === undefined) return true;
  const base = baseOf(columnId);
  return hasSeen(base, site, cell.version) && (cell.otherSite === undefined || hasSeen(base, site, cell.otherSite));
}

/** A cell with one more write in it, which leaves in it what was there. */
function added(before: Cell | undefined, value: CellValue, version: Version): Cell {
  const otherSite = before === undefined || before.version.site === version.site ? before?.otherSite : before.version;
  return otherSite === undefined ? { value, version } : { value, version, otherSite };
}

function placeLoss(
  columnId: number,
  { path, own, other, otherVersion, ownStands }: OverwrittenPlace,
  version: Version,
): Conflict {
  const [mine, theirs] = [
    { value: own, version },
    { value: other, version: otherVersion },
  ];
  return { columnId, path, rule: 'lww', lost: ownStands ? theirs : mine, won: ownStands ? mine : theirs };
}

/**
 * An edit whose document is gone: what it would have made is not known. It is no write of NULL, so it has the
 * document's own place.
 */
function lostEdit(columnId: number, rule: MergeRule, version: Version, won: Conflict['won']): Conflict {
  return { columnId, path: WHOLE_DOCUMENT, rule, lost: { value: null, version }, won };
}

function freshRow({ values, version }: RowChange): StoredRow {
  const cells = new Map<number, Cell>();
  for (const [columnId, value] of values) cells.set(columnId, { value, version });
  return { inserted: version, revived: null, updated: new Map(), deleted: null, cells };
}

/** The author's copy of the whole row, or of the columns it wrote, is no longer what the server has. */
function correctedBy(change: RowChange): number[] {
  return [EXISTENCE_COLUMN_ID, ...change.values.keys()];
}

function wholeRowConflicts(loser: StoredRow, winner: StoredRow, counters: ReadonlySet<number>): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [columnId, cell] of loser.cells) {
    const winning = winner.cells.get(columnId);
    const value = winner.deleted === null ? (winning?.value ?? null) : null;
    const isEqual = winner.deleted === null && cellValuesEqual(value, cell.value);
    // What was added to the counter of one row is not in the other, though both came to the same; what both began with
    // is.
    const hasMore =
      counters.has(columnId) &&
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
  { counters, documents }: RowRules,
  rule: MergeRule,
  by: Version,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [columnId, value] of change.values) {
    const winning = stored.deleted === null ? (stored.cells.get(columnId)?.value ?? null) : null;
    // What was to be added to a counter is lost, whatever its sum is.
    if (stored.deleted === null && !counters.has(columnId) && cellValuesEqual(winning, value)) continue;
    const document = documents.get(columnId);
    const lost =
      document?.isEdit(value) === true
        ? editedImage(document, stored.cells.get(columnId)?.value ?? null, value, change.version.site)
        : value;
    // What stands in a row that is there may be by somebody who changed it after it was inserted.
    const won = { value: winning, version: stored.deleted === null ? (stored.cells.get(columnId)?.version ?? by) : by };
    conflicts.push(
      lost === null && value !== null
        ? lostEdit(columnId, rule, change.version, won)
        : { columnId, rule, lost: { value: lost, version: change.version }, won },
    );
  }
  return conflicts;
}

/** What a document would have become with an edit that lost; null where that cannot be told any more. */
function editedImage(document: DocumentMerge, image: CellValue, edit: CellValue, site: string): CellValue {
  try {
    return document.merge(image, edit, site)?.document ?? null;
  } catch (error) {
    if (error instanceof RockpoolError) return null;
    throw error;
  }
}
