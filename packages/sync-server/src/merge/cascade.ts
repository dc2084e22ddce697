import {
  encodeKey,
  EXISTENCE_COLUMN_ID,
  MAX_CHANGESET_ROWS,
  type Cell,
  type CellValue,
  type Conflict,
  type Version,
  type WriteVersion,
} from '@rockpool/shared';
import { rowName, type RowWrite } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import {
  referenceBytes,
  referencedValues,
  referringValues,
  type ForeignKeyCheck,
  type ForeignKeyChecks,
} from './foreign-keys.ts';
import type { MergedRow } from './merged-row.ts';
import { type MergedRows } from './merged-rows.ts';
import { isThere } from './merged-row.ts';
import { NOTHING_NULLED } from '../store/nulled-references.ts';
import { UnseenDeletes } from './unseen-delete.ts';

/** A row deleted by this changeset, and the version of the delete that caused it. */
interface Gone {
  readonly row: MergedRow;
  readonly reason: Version;
}

/**
 * Applies `ON DELETE CASCADE` between concurrent writes of parents and children. Both orders of arrival produce the
 * same rows:
 *
 *   child, then the parent's delete    deletes the existing children
 *   the parent's delete, then child    admits the child as a deleted row, and its own children too
 *
 * Call it after the changeset's rows are written; it deletes cascaded rows from the tables. Their tombstones have the
 * server's site and this watermark, so that every site receives them, including the author's. Their cells are
 * conflicts. Each tombstone refers to its missing parent, and comes back with that parent or a new one
 * (return-children.ts). A child whose author had seen the delete is not deleted: it breaks the foreign key.
 *
 * Returns the versions of the deletes that caused the others, by the name of the deleted row.
 */
export function cascadeDeletes(
  file: DatabaseFile,
  checks: ForeignKeyChecks,
  rows: MergedRows,
  version: WriteVersion,
  base: number,
): ReadonlyMap<string, Version> {
  const waiting: Gone[] = [];
  const reasons = new Map<string, Version>();
  const remove = (row: MergedRow, waitsFor: Uint8Array, reason: Version): void => {
    const gone = asCascaded(row, waitsFor, version, reason);
    file.sql.run(row.write.table.deleteSql, ...row.write.key);
    rows.set(gone);
    reasons.set(row.write.name, reason);
    waiting.push({ row: gone, reason });
  };
  for (const row of rows.all()) if (isThere(row.before) && !isThere(row.after)) waiting.push({ row, reason: version });
  const unseenDeletes = new UnseenDeletes(file, checks);
  for (const { write } of rows.all()) {
    const row = rows.of(write);
    const unseen = row.before === row.after || !isThere(row.after) ? null : unseenDeletes.of(row, version, base);
    if (unseen !== null)
      remove(row, referenceBytes(unseen.check, referringValues(file, unseen.check, write)), unseen.deleted);
  }
  for (let gone = waiting.shift(); gone !== undefined; gone = waiting.shift()) {
    for (const check of checks.byParent.get(gone.row.write.table) ?? []) {
      if (check.rule !== 'cascade') continue;
      for (const { write, values } of orphans(file, check, gone.row, rows.room)) {
        const row = rows.of(write);
        if (isThere(row.after)) remove(row, referenceBytes(check, values), gone.reason);
      }
    }
  }
  return reasons;
}

/** The children of a deleted row, and the values by which they refer to it. */
export function orphans(
  file: DatabaseFile,
  check: ForeignKeyCheck,
  { write, after }: MergedRow,
  room: number,
): { readonly write: RowWrite; readonly values: readonly CellValue[] }[] {
  if (after === undefined) return [];
  const values = referencedValues(check, write.table, write.key, after);
  if (values.includes(null)) return [];
  const keys = file.sql.all(check.orphanKeysSql, ...values, BigInt(MAX_CHANGESET_ROWS + room + 1));
  return keys.map((key) => ({ write: unnamedWrite(check, key), values }));
}

const NO_VALUES: ReadonlyMap<number, CellValue> = new Map();
const NO_CELL_BASES: ReadonlyMap<number, number> = new Map();

/** A write for a child row that the changeset does not contain. */
export function unnamedWrite({ child }: ForeignKeyCheck, key: readonly CellValue[]): RowWrite {
  return {
    table: child,
    kind: 'delete',
    key,
    keyBytes: encodeKey(key),
    name: rowName(child.schema.id, key),
    values: NO_VALUES,
    cellBases: NO_CELL_BASES,
  };
}

function asCascaded(row: MergedRow, waitsFor: Uint8Array, version: Version, reason: Version): MergedRow {
  const { write, before, after } = row;
  if (after === undefined) return row;
  const deleted: Version = { ...version, site: SERVER_SITE };
  const won = { value: null, version: reason };
  // A row that this changeset inserted or revived loses the changeset's cells; an older row loses all its cells. A row
  // without value columns is lost as a whole.
  const all: readonly (readonly [number, Cell])[] =
    after.row.cells.size > 0
      ? [...after.row.cells]
      : [[EXISTENCE_COLUMN_ID, { value: null, version: after.row.inserted }]];
  const lost = all.filter(([, cell]) => isThere(before) || cell.version === version);
  const conflicts = row.conflicts.filter((loss) => {
    // Omits the conflict of a delete that had lost to an update: the row is deleted now.
    if (loss.columnId === EXISTENCE_COLUMN_ID && loss.rule === 'update-wins') return false;
    // The conflict log already has the cells of other authors for a row that was deleted before.
    return before === undefined || isThere(before) || loss.lost.version === version;
  });
  return {
    ...row,
    after: { ...after, row: { ...after.row, deleted }, waitsFor, nulled: NOTHING_NULLED },
    conflicts: [
      ...conflicts,
      ...lost.map(([columnId, cell]): Conflict => ({ columnId, rule: 'cascade', lost: cell, won })),
    ],
    corrected: [EXISTENCE_COLUMN_ID, ...write.values.keys()],
  };
}
