import {
  CONFLICT_TABLE,
  encodeKey,
  EXISTENCE_COLUMN_ID,
  stampToMs,
  type Cell,
  type CellValue,
  type Conflict,
  type Version,
} from '@rockpool/shared';
import type { MergedRow } from '../merge/merged-row.ts';
import { toColumnValue } from '../documents/document-store.ts';
import { insertRow } from '../merge/write-rows.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import { NOTHING_NULLED } from '../store/nulled-references.ts';
import { writeKnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

// Pads the watermark so that ids sort by it as text: 16 digits hold every safe integer.
const WATERMARK_DIGITS = 16;
const COUNTER_DIGITS = 6;

/**
 * Writes replaced values into the conflict log, in the transaction of the changeset that replaced them. The entries
 * have versions of the server's own site at this watermark, so every client receives them like any other row.
 */
export function writeConflictRows(
  file: DatabaseFile,
  rows: readonly MergedRow[],
  version: Version,
  principalAt: (watermark: number) => string,
): void {
  const conflictTable = file.tableById.get(CONFLICT_TABLE.id) as StoredTable;
  const serverVersion: Version = { ...version, site: SERVER_SITE };
  let counter = 0;
  for (const { write, conflicts } of rows) {
    for (const conflict of conflicts) {
      const key = [
        `${String(version.watermark).padStart(WATERMARK_DIGITS, '0')}-${String(++counter).padStart(COUNTER_DIGITS, '0')}`,
      ];
      const fields = conflictFields(write.table, write.key, conflict, version.watermark, principalAt);
      const cells = new Map<number, Cell>(
        conflictTable.values.map((column) => [
          column.id,
          { value: fields[column.name] ?? null, version: serverVersion },
        ]),
      );
      insertRow(file, conflictTable, key, cells);
      writeKnownRow(file, conflictTable, encodeKey(key), {
        row: { inserted: serverVersion, revived: null, updated: new Map(), deleted: null, cells },
        bornAt: version.watermark,
        waitsFor: null,
        nulled: NOTHING_NULLED,
      });
    }
  }
}

function conflictFields(
  table: StoredTable,
  key: readonly CellValue[],
  conflict: Conflict,
  watermark: number,
  principalAt: (watermark: number) => string,
): Record<string, CellValue> {
  const { lost, won, path = null } = conflict;
  // Values within a document are already JSON.
  const valueOf = ({ value }: Conflict['lost']): CellValue =>
    path === null || value instanceof Uint8Array ? toColumnValue(table, conflict.columnId, value) : value;
  return {
    table_name: table.schema.name,
    row_key: keyToJson(key),
    column_name:
      conflict.columnId === EXISTENCE_COLUMN_ID ? null : (table.valueById.get(conflict.columnId)?.name ?? null),
    rule: conflict.rule,
    lost_value: valueOf(lost),
    won_value: valueOf(won),
    lost_by: principalAt(lost.version.watermark),
    won_by: principalAt(won.version.watermark),
    lost_site: lost.version.site,
    won_site: won.version.site,
    lost_at_ms: BigInt(stampToMs(lost.version.stampUs)),
    won_at_ms: BigInt(stampToMs(won.version.stampUs)),
    watermark: BigInt(watermark),
    path,
  };
}

/** Returns the parts of a key as a JSON array, with integers as strings and blobs as hex. */
export function keyToJson(key: readonly CellValue[]): string {
  return JSON.stringify(
    key.map((part) =>
      part instanceof Uint8Array
        ? Buffer.from(part).toString('hex')
        : typeof part === 'bigint'
          ? part.toString()
          : part,
    ),
  );
}
