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
import { writeKnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

// Ids sort by watermark as text: 16 digits hold every safe integer.
const WATERMARK_DIGITS = 16;
const COUNTER_DIGITS = 6;

/**
 * Writes what lost into the conflict log, in the transaction of the changeset that made it lose. The rows have versions
 * of the server's own site at this watermark, so they are delivered to every client like any other row.
 */
export function writeConflictRows(
  file: DatabaseFile,
  rows: readonly MergedRow[],
  version: Version,
  principalAt: (watermark: number) => string,
): void {
  const ledger = file.tableById.get(CONFLICT_TABLE.id) as StoredTable;
  const ledgerVersion: Version = { ...version, site: SERVER_SITE };
  let counter = 0;
  for (const { write, conflicts } of rows) {
    for (const loss of conflicts) {
      const key = [
        `${String(version.watermark).padStart(WATERMARK_DIGITS, '0')}-${String(++counter).padStart(COUNTER_DIGITS, '0')}`,
      ];
      const fields = conflictFields(write.table, write.key, loss, version.watermark, principalAt);
      const cells = new Map<number, Cell>(
        ledger.values.map((column) => [column.id, { value: fields[column.name] ?? null, version: ledgerVersion }]),
      );
      insertRow(file, ledger, key, cells);
      writeKnownRow(file, ledger, encodeKey(key), {
        row: { inserted: ledgerVersion, revived: null, updated: new Map(), deleted: null, cells },
        bornAt: version.watermark,
        waitsFor: null,
      });
    }
  }
}

function conflictFields(
  table: StoredTable,
  key: readonly CellValue[],
  loss: Conflict,
  watermark: number,
  principalAt: (watermark: number) => string,
): Record<string, CellValue> {
  const { lost, won, path = null } = loss;
  // The values of a place within a document are JSON already.
  const valueOf = ({ value }: Conflict['lost']): CellValue =>
    path === null || value instanceof Uint8Array ? toColumnValue(table, loss.columnId, value) : value;
  return {
    table_name: table.schema.name,
    row_key: keyToJson(key),
    column_name: loss.columnId === EXISTENCE_COLUMN_ID ? null : (table.valueById.get(loss.columnId)?.name ?? null),
    rule: loss.rule,
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

/** JSON array of the key's parts; integers as text, blobs as hex. */
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
