import {
  encodeKey,
  MAX_RENAMES,
  MAX_VALUE_BYTES,
  quoteName,
  renamed,
  RockpoolError,
  type CellValue,
  type RenameRule,
  type Version,
} from '@rockpool/shared';
import { rowName } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { MergedRow } from './merged-row.ts';

/** Writes a row as given, or throws the error of a violated constraint and writes nothing. */
export type InsertRow = (row: MergedRow) => void;

export interface UniqueConflict {
  readonly file: DatabaseFile;
  readonly row: MergedRow;
  /** The `constraint-unique` error of the failed insert. */
  readonly rejection: RockpoolError;
  /** The version of the changeset. */
  readonly version: Version;
  /** The merged row of the changeset with this name. */
  readonly mergedRow: (name: string) => MergedRow | undefined;
}

/**
 * Resolves a unique value that another row has by the unique rule of the table, and returns the row as inserted. Throws
 * the error that rejects the changeset.
 */
export function resolveUniqueConflict(conflict: UniqueConflict, insert: InsertRow): MergedRow {
  const { row, rejection } = conflict;
  const rule = row.write.table.schema.merge.uniqueRule ?? 'reject';
  if (rule === 'reject') throw rejection;
  return insertRenamed(conflict, rule, insert);
}

function insertRenamed(
  { file, row, rejection, version, mergedRow }: UniqueConflict,
  rule: RenameRule,
  insert: InsertRow,
): MergedRow {
  const { table } = row.write;
  const column = table.values.find(({ name }) => name === rule.rename);
  const colliding = String(rejection.fields['columns'] ?? '').split(', ');
  const cell = column === undefined ? undefined : row.after?.row.cells.get(column.id);
  if (column === undefined || typeof cell?.value !== 'string' || !colliding.includes(rule.rename)) throw rejection;
  const won = { version: holderOf(file, row, colliding, mergedRow)?.row.cells.get(column.id)?.version ?? version };
  // The cell changes even if this changeset did not write it, so it gets a version that is delivered.
  const own =
    cell.version.watermark === version.watermark
      ? cell.version
      : { ...version, stampUs: cell.version.stampUs, site: SERVER_SITE };
  for (let n = 2; n < MAX_RENAMES + 2; n++) {
    const value = renamed(cell.value, rule, n);
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES) break;
    const attempt: MergedRow = {
      ...withCell(row, column.id, value, own),
      conflicts: [
        ...row.conflicts,
        { columnId: column.id, rule: 'rename', lost: cell, won: { value, version: won.version } },
      ],
      corrected: row.corrected.includes(column.id) ? row.corrected : [...row.corrected, column.id],
    };
    try {
      insert(attempt);
      return attempt;
    } catch (error) {
      if (!(error instanceof RockpoolError)) throw error;
      // Gives up, for example at a CHECK that the new name violates, because no other name would help.
      if (error.code !== 'constraint-unique') break;
    }
  }
  throw rejection;
}

function withCell(row: MergedRow, columnId: number, value: CellValue, version: Version): MergedRow {
  const after = row.after as KnownRow;
  const cells = new Map(after.row.cells).set(columnId, { value, version });
  return { ...row, after: { ...after, row: { ...after.row, cells } } };
}

/** The row that already has the values. */
function holderOf(
  file: DatabaseFile,
  { write: { table, key }, after }: MergedRow,
  columns: readonly string[],
  mergedRow: (name: string) => MergedRow | undefined,
): KnownRow | undefined {
  const keyNames = table.keys.map(({ name }) => name);
  const valueOf = (name: string): CellValue => {
    const part = keyNames.indexOf(name);
    const column = table.values.find((candidate) => candidate.name === name);
    return (part >= 0 ? key[part] : column && after?.row.cells.get(column.id)?.value) ?? null;
  };
  const holder = file.sql.get(
    `SELECT ${keyNames.map(quoteName).join(', ')} FROM ${quoteName(table.schema.name)} WHERE ${columns.map((name) => `${quoteName(name)} = ?`).join(' AND ')}`,
    ...columns.map(valueOf),
  );
  return holder === undefined ? undefined : knownRow(file, table, holder as readonly CellValue[], mergedRow);
}

function knownRow(
  file: DatabaseFile,
  table: StoredTable,
  key: readonly CellValue[],
  mergedRow: (name: string) => MergedRow | undefined,
): KnownRow | undefined {
  return mergedRow(rowName(table.schema.id, key))?.after ?? readKnownRow(file, table, key, encodeKey(key));
}
