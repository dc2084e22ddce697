import { encodeKey, EXISTENCE_COLUMN_ID, hasSeen, type Cell, type CellValue, type Loss, type Version } from '@rockpool/shared';
import { baseOf, type RowWrite } from '../push/read-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../store/internal-tables.ts';
import { readColumnValues, readKnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../store/stored-table.ts';
import { referencedValues, type ForeignKeyCheck, type ForeignKeyChecks } from './foreign-keys.ts';
import type { MergedRow } from './merge-changeset.ts';

/** A row that has gone in this changeset, and the delete that is the reason. */
interface Gone {
  readonly row: MergedRow;
  readonly reason: Version;
}

/**
 * `ON DELETE CASCADE`, where parent and child were written by authors who did not see each other. Both orders of arrival end in the same rows:
 *
 *   child, then the parent's delete    the children that are there go with it
 *   the parent's delete, then child    the child is admitted as a deleted row, and what would hang on it goes as well
 *
 * Takes the rows of a changeset as they are written already, deletes from the tables what has to go, and returns the rows as they are then.
 * The tombstones are by the server itself at this watermark, so that everybody is told, the author too. Their cells are losses.
 * A child whose author had seen the delete is left alone: it breaks the foreign key.
 */
export function cascadeDeletes(file: DatabaseFile, checks: ForeignKeyChecks, rows: readonly MergedRow[], version: Version, base: number): MergedRow[] {
  const byName = new Map(rows.map((row) => [rowName(row.write), row]));
  const waiting: Gone[] = [];
  const remove = (row: MergedRow, reason: Version): void => {
    const gone = asCascaded(row, version, reason);
    file.sql.run(row.write.table.deleteSql, ...row.write.key);
    byName.set(rowName(row.write), gone);
    waiting.push({ row: gone, reason });
  };
  for (const row of rows) if (isThere(row.before) && !isThere(row.after)) waiting.push({ row, reason: version });
  for (const { write } of rows) {
    const row = byName.get(rowName(write)) as MergedRow;
    const reason = row.before === row.after || !isThere(row.after) ? null : deletedParent(file, checks, row, byName, version, base);
    if (reason !== null) remove(row, reason);
  }
  for (let gone = waiting.shift(); gone !== undefined; gone = waiting.shift()) {
    for (const check of checks.byParent.get(gone.row.write.table) ?? []) {
      if (check.key.onDelete !== 'cascade') continue;
      for (const write of orphans(file, check, gone.row)) {
        const known = byName.get(rowName(write)) ?? storedRow(file, write);
        if (isThere(known.after)) remove(known, gone.reason);
      }
    }
  }
  return [...byName.values()];
}

/** The delete of a parent of this row that its author had not seen; null: all its parents are there, or are missing for another reason. */
function deletedParent(file: DatabaseFile, checks: ForeignKeyChecks, { write }: MergedRow, byName: ReadonlyMap<string, MergedRow>, version: Version, base: number): Version | null {
  const seenUpTo = baseOf(write, base)(EXISTENCE_COLUMN_ID);
  for (const check of checks.byChild.get(write.table) ?? []) {
    if (check.key.onDelete !== 'cascade' || file.sql.get(check.missingParentSql, ...write.key) === undefined) continue;
    const key = parentKey(file, check, write);
    if (key === null) continue;
    const keyBytes = encodeKey(key);
    // A parent that this very changeset deletes was there before it: that is no delete which the author had not seen.
    const inChangeset = byName.get(rowName({ table: check.parent, keyBytes }));
    const known = inChangeset === undefined ? readKnownRow(file, check.parent, key, keyBytes) : inChangeset.before;
    const deleted = known?.row.deleted ?? null;
    if (deleted !== null && !hasSeen(seenUpTo, version.site, deleted)) return deleted;
  }
  return null;
}

/** Null where the foreign key does not refer to the parent's primary key: tombstones are found by that alone. */
function parentKey(file: DatabaseFile, { key, parent }: ForeignKeyCheck, write: RowWrite): CellValue[] | null {
  // As the table has them: a column may have turned what was sent into its own type.
  const values = readColumnValues(file, write.table, write.key);
  const parts: CellValue[] = [];
  for (const { name } of parent.keys) {
    const column = key.columns[key.foreignColumns.indexOf(name)];
    if (column === undefined) return null;
    const part = write.table.keys.findIndex((candidate) => candidate.name === column);
    const value = part >= 0 ? write.key[part] : values.get(write.table.values.find((candidate) => candidate.name === column)?.id ?? EXISTENCE_COLUMN_ID);
    if (value === undefined || value === null) return null;
    parts.push(value);
  }
  return parts;
}

function orphans(file: DatabaseFile, check: ForeignKeyCheck, { write, after }: MergedRow): RowWrite[] {
  if (after === undefined) return [];
  const values = referencedValues(check, write, after);
  if (values.includes(null)) return [];
  return file.sql.all(check.orphanKeysSql, ...values).map((key) => ({
    table: check.child,
    kind: 'delete',
    key,
    keyBytes: encodeKey(key),
    values: NO_VALUES,
    hiddenBases: NO_HIDDEN_BASES,
  }));
}

const NO_VALUES: ReadonlyMap<number, CellValue> = new Map();
const NO_HIDDEN_BASES: ReadonlyMap<number, number> = new Map();

/** A row that the changeset does not name. */
function storedRow(file: DatabaseFile, write: RowWrite): MergedRow {
  const known = readKnownRow(file, write.table, write.key, write.keyBytes);
  return { write, before: known, after: known, losses: [], corrected: [] };
}

function asCascaded(row: MergedRow, version: Version, reason: Version): MergedRow {
  const { write, before, after } = row;
  if (after === undefined) return row;
  const deleted: Version = { ...version, site: SERVER_SITE };
  const won = { value: null, version: reason };
  // A row that this changeset made or brought back loses what the changeset gave it; one that was there loses all it had.
  const lost = [...after.row.cells].filter(([, cell]) => isThere(before) || cell.version === version);
  // Whoever had deleted the row, and lost to an update of it, has got what they wanted.
  const losses = row.losses.filter(({ columnId, rule }) => columnId !== EXISTENCE_COLUMN_ID || rule !== 'update-wins');
  return {
    ...row,
    after: { ...after, row: { ...after.row, deleted } },
    losses: [...losses, ...lost.map(([columnId, cell]: [number, Cell]): Loss => ({ columnId, rule: 'cascade', lost: cell, won }))],
    corrected: [EXISTENCE_COLUMN_ID, ...write.values.keys()],
  };
}

function isThere(known: MergedRow['after']): boolean {
  return known?.row.deleted === null;
}

function rowName({ table, keyBytes }: { readonly table: StoredTable; readonly keyBytes: Uint8Array }): string {
  return `${table.schema.id}:${Buffer.from(keyBytes).toString('latin1')}`;
}
