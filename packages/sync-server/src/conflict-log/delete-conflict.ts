import { CONFLICT_TABLE, CONFLICT_TABLE_NAME, encodeKey, type MergeRule, type Version } from '@rockpool/shared';
import type { MergedRow } from '../merge/merged-row.ts';
import { isGoneByCascade, isThere } from '../merge/merged-row.ts';
import { baseOf, type RowWrite } from '../merge/row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow, writeKnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { keyToJson } from './conflict-rows.ts';

/**
 * Deletes an entry of the conflict log at this watermark, so that clients delete it too. Its tombstone keeps no values.
 */
export function deleteConflict(file: DatabaseFile, id: string, watermark: number): void {
  const conflictTable = file.tableById.get(CONFLICT_TABLE.id) as StoredTable;
  const keyBytes = encodeKey([id]);
  const known = readKnownRow(file, conflictTable, [id], keyBytes);
  if (known === undefined) return;
  file.sql.run(conflictTable.deleteSql, id);
  writeKnownRow(file, conflictTable, keyBytes, {
    ...known,
    row: { ...known.row, deleted: { ...known.row.inserted, watermark }, cells: new Map() },
  });
}

/** Deletes the entries of rows that a cascade deleted and that have been revived. */
export function withdrawCascadeConflicts(file: DatabaseFile, rows: readonly MergedRow[], watermark: number): void {
  for (const { write, before, after } of rows) {
    if (!isGoneByCascade(before) || !isThere(after)) continue;
    const decidedAt = before?.row.deleted?.watermark ?? 0;
    for (const { id } of entriesOf(file, write, 'cascade', decidedAt)) deleteConflict(file, id, watermark);
  }
}

/**
 * Deletes the entries of references that a delete set to NULL, if they have been restored, or if an author replaced
 * them without having seen the NULL.
 */
export function withdrawNullConflicts(
  file: DatabaseFile,
  rows: readonly MergedRow[],
  { watermark }: Version,
  base: number,
): void {
  for (const { write, before, after } of rows) {
    if (before === undefined || before.nulled.size === 0 || !isThere(after)) continue;
    for (const [columnId, { watermark: nulledAt }] of before.nulled) {
      if (after?.nulled.get(columnId)?.watermark === nulledAt) continue;
      // Compares watermarks instead of sites, because the same author may have written the restored reference.
      const isReplaced =
        after?.row.cells.get(columnId)?.version.watermark === watermark && nulledAt <= baseOf(write, base)(columnId);
      const column = write.table.valueById.get(columnId)?.name;
      for (const entry of isReplaced ? [] : entriesOf(file, write, 'set-null', nulledAt))
        if (entry.column === column) deleteConflict(file, entry.id, watermark);
    }
  }
}

function entriesOf(
  file: DatabaseFile,
  { table, key }: RowWrite,
  rule: MergeRule,
  decidedAt: number,
): { readonly id: string; readonly column: string | null }[] {
  return file.sql
    .all(
      `SELECT id, column_name FROM ${CONFLICT_TABLE_NAME} WHERE table_name = ? AND row_key = ? AND rule = ? AND watermark = ?`,
      table.schema.name,
      keyToJson(key),
      rule,
      BigInt(decidedAt),
    )
    .map(([id, column]) => ({ id: id as string, column: column as string | null }));
}
