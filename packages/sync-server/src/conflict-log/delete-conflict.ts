import { CONFLICT_TABLE, CONFLICT_TABLE_NAME, encodeKey } from '@rockpool/shared';
import type { MergedRow } from '../merge/merged-row.ts';
import { isGoneByCascade, isThere } from '../merge/merged-row.ts';
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
    const entries = file.sql.all(
      `SELECT id FROM ${CONFLICT_TABLE_NAME} WHERE table_name = ? AND row_key = ? AND rule = 'cascade' AND watermark = ?`,
      write.table.schema.name,
      keyToJson(write.key),
      BigInt(before?.row.deleted?.watermark ?? 0),
    );
    for (const [id] of entries) deleteConflict(file, id as string, watermark);
  }
}
