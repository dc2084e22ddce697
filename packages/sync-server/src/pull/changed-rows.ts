import { decodeKey, type CellValue } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { decodeRowVersions, type RowVersions } from '../store/row-version-codec.ts';
import { readValuesOfRows, type RowKey } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

export interface ChangedRow extends RowKey {
  readonly table: StoredTable;
  readonly versions: RowVersions;
}

/**
 * The rows above a watermark and their values, each read once: after a commit nearly all readers have the same cursor.
 * Valid until the next commit.
 */
export class ChangedRows {
  private readonly file: DatabaseFile;
  private readonly byWatermark: Map<number, readonly ChangedRow[]> = new Map();
  private readonly values: Map<RowKey, ReadonlyMap<number, CellValue>> = new Map();

  constructor(file: DatabaseFile) {
    this.file = file;
  }

  /** Returns the rows above a watermark, ordered by watermark. */
  above(watermark: number): readonly ChangedRow[] {
    const known = this.byWatermark.get(watermark);
    if (known !== undefined) return known;
    const rows = this.file.sql
      .all(
        `SELECT table_id, key, versions FROM rockpool_row_version WHERE watermark > ? ORDER BY watermark`,
        BigInt(watermark),
      )
      .flatMap(([tableId, keyBytes, versions]): ChangedRow[] => {
        const table = this.file.tableById.get(Number(tableId));
        return table === undefined
          ? []
          : [
              {
                table,
                key: decodeKey(keyBytes as Uint8Array),
                keyBytes: keyBytes as Uint8Array,
                versions: decodeRowVersions(versions as Uint8Array),
              },
            ];
      });
    this.byWatermark.set(watermark, rows);
    return rows;
  }

  /** The cells of existing rows of a table, in the order of `rows`. */
  valuesOf(table: StoredTable, rows: readonly RowKey[]): ReadonlyMap<number, CellValue>[] {
    const unread = rows.filter((row) => !this.values.has(row));
    readValuesOfRows(this.file, table, unread).forEach((values, i) => this.values.set(unread[i] as RowKey, values));
    return rows.map((row) => this.values.get(row) as ReadonlyMap<number, CellValue>);
  }
}
