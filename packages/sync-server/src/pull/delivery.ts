import { decodeKey, type ChangeGroup } from '@rockpool/shared';
import type { CorrectedRow } from '../log/corrected-codec.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { decodeRowVersions } from '../store/row-version-codec.ts';
import type { ChangedRows } from './changed-rows.ts';
import { RowGroups } from './group-rows.ts';
import { rowDelivery, type Reader } from './row-delivery.ts';
import { fullState } from './full-state.ts';

/**
 * The rows that bring a reader to the end of the log: rows above its cursor, and rows whose merged values differ from
 * what it sent. State, not history: a row that changed a hundred times is included once.
 */
export function deliveredGroups(
  file: DatabaseFile,
  changed: ChangedRows,
  reader: Reader,
  corrections: readonly CorrectedRow[],
): ChangeGroup[] {
  const hasNothing = reader.from === 0 && reader.siteNumber === null && reader.mayBeAhead !== true;
  if (hasNothing && corrections.length === 0) return fullState(file);
  const groups = new RowGroups(file, changed, reader.from);
  const correctedByRow = mergeCorrections(corrections);
  for (const row of changed.above(reader.from)) {
    const corrected = takeCorrection(correctedByRow, row.table.schema.id, row.keyBytes);
    groups.add(row.table, row, rowDelivery(row.versions, row.table.columnIds, reader, corrected));
  }
  for (const { tableId, keyBytes, columnIds } of correctedByRow.values()) {
    const table = file.tableById.get(tableId);
    if (table === undefined) continue;
    const packed = file.sql.get(
      `SELECT versions FROM rockpool_row_version WHERE table_id = ? AND key = ?`,
      BigInt(tableId),
      keyBytes,
    )?.[0];
    const versions = packed === undefined ? undefined : decodeRowVersions(packed as Uint8Array);
    groups.add(
      table,
      { key: decodeKey(keyBytes), keyBytes },
      rowDelivery(versions, table.columnIds, reader, [...columnIds]),
    );
  }
  return groups.finish();
}

interface Correction {
  readonly tableId: number;
  readonly keyBytes: Uint8Array;
  readonly columnIds: Set<number>;
}

function mergeCorrections(corrections: readonly CorrectedRow[]): Map<string, Correction> {
  const byRow = new Map<string, Correction>();
  for (const { tableId, keyBytes, columnIds } of corrections) {
    const name = rowName(tableId, keyBytes);
    const correction = byRow.get(name) ?? { tableId, keyBytes, columnIds: new Set<number>() };
    for (const columnId of columnIds) correction.columnIds.add(columnId);
    byRow.set(name, correction);
  }
  return byRow;
}

function takeCorrection(
  correctedByRow: Map<string, Correction>,
  tableId: number,
  keyBytes: Uint8Array,
): readonly number[] {
  if (correctedByRow.size === 0) return [];
  const name = rowName(tableId, keyBytes);
  const corrected = correctedByRow.get(name);
  correctedByRow.delete(name);
  return [...(corrected?.columnIds ?? [])];
}

function rowName(tableId: number, keyBytes: Uint8Array): string {
  return `${tableId}:${Buffer.from(keyBytes).toString('latin1')}`;
}
