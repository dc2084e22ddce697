import {
  auditSliceSql,
  auditedColumnIds,
  differingRanges,
  encodeKey,
  RockpoolError,
  TableFingerprint,
  type Audit,
  type AuditAnswer,
  type CellValue,
  type ChangeGroup,
  type DifferingTable,
} from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/**
 * Maximum number of cells in one response: one to a few megabytes. A single range may exceed it. The next
 * audit finds the remaining differences.
 */
const MAX_ANSWER_CELLS = 100_000;

/**
 * Compares the tables of clients with the server's by fingerprint. Reads tables in slices, one per turn of the event
 * loop, and gives up when the log grows: two sides compare only at one watermark. Clients at the same watermark share
 * one reading.
 */
export class TableAudits {
  private readonly file: DatabaseFile;
  private readonly fingerprints = new Map<string, Promise<TableFingerprint | null>>();
  private watermark = 0;
  private isClosed = false;

  constructor(file: DatabaseFile) {
    this.file = file;
  }

  /**
   * Returns `compared: false` if the log is past the client's cursor or grows meanwhile. Throws `schema-unknown-table`.
   */
  async answer({ cursor, tables }: Audit): Promise<AuditAnswer> {
    const differing: DifferingTable[] = [];
    const groups: ChangeGroup[] = [];
    for (const { tableId, sums } of tables) {
      const table = this.file.tableById.get(tableId);
      if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { tableId });
      const rangeCount = sums.length / 2;
      const mine = await this.fingerprint(table, rangeCount, cursor);
      if (mine === null) return { type: 'audit-answer', cursor, compared: false, differing: [], groups: [] };
      const ranges = differingRanges(mine.sums, sums);
      if (ranges.length === 0) continue;
      if (rangeCount === 1) differing.push({ tableId, ranges: [] });
      else {
        const found = await this.readRanges(table, rangeCount, ranges, cursor);
        if (found === null) return { type: 'audit-answer', cursor, compared: false, differing: [], groups: [] };
        differing.push({ tableId, ranges: found.ranges });
        if (found.group.rowCount > 0) groups.push(found.group);
      }
    }
    return { type: 'audit-answer', cursor, compared: true, differing, groups };
  }

  /** Stops reading: the file is about to close. */
  close(): void {
    this.isClosed = true;
  }

  private fingerprint(table: StoredTable, rangeCount: number, cursor: number): Promise<TableFingerprint | null> {
    if (this.watermark !== cursor) this.fingerprints.clear();
    this.watermark = cursor;
    const name = `${table.schema.id}:${rangeCount}`;
    const known = this.fingerprints.get(name) ?? this.read(table, rangeCount, cursor);
    this.fingerprints.set(name, known);
    return known;
  }

  private async read(table: StoredTable, rangeCount: number, cursor: number): Promise<TableFingerprint | null> {
    const fingerprint = new TableFingerprint(table.schema, rangeCount);
    const whole = await this.forEachRow(table, cursor, (key, cells) => fingerprint.add(key, cells));
    return whole ? fingerprint : null;
  }

  /** The rows of as many ranges as fit into one response, at least one. Null if the log has grown. */
  private async readRanges(
    table: StoredTable,
    rangeCount: number,
    ranges: readonly number[],
    cursor: number,
  ): Promise<{ readonly ranges: number[]; readonly group: ChangeGroup } | null> {
    const fingerprint = new TableFingerprint(table.schema, rangeCount);
    const columnIds = auditedColumnIds(table.schema);
    const rowsByRange = new Map<number, { readonly key: readonly CellValue[]; readonly cells: readonly CellValue[] }[]>(
      ranges.map((range) => [range, []]),
    );
    const whole = await this.forEachRow(
      table,
      cursor,
      (key, cells) =>
        void rowsByRange
          .get(fingerprint.rangeOfKey(key))
          ?.push({ key, cells: this.withStates(table, columnIds, key, cells) }),
    );
    if (!whole) return null;
    const carried: number[] = [];
    const group = {
      tableId: table.schema.id,
      kind: 'insert' as const,
      rowCount: 0,
      keys: table.keys.map((): CellValue[] => []),
      columnIds,
      values: columnIds.map((): CellValue[] => []),
    };
    for (const [range, rows] of rowsByRange) {
      if (
        carried.length > 0 &&
        (group.rowCount + rows.length) * (group.keys.length + columnIds.length) > MAX_ANSWER_CELLS
      )
        break;
      carried.push(range);
      group.rowCount += rows.length;
      for (const { key, cells } of rows) {
        key.forEach((part, index) => group.keys[index]?.push(part));
        cells.forEach((cell, index) => group.values[index]?.push(cell));
      }
    }
    return { ranges: carried, group };
  }

  /** Replaces the JSON of documents with their states, which a client needs for a repair. */
  private withStates(
    table: StoredTable,
    columnIds: readonly number[],
    key: readonly CellValue[],
    cells: readonly CellValue[],
  ): readonly CellValue[] {
    if (table.documents.size === 0) return cells;
    const values = readRowValues(this.file, table, key, encodeKey(key));
    return columnIds.map((columnId) => values.get(columnId) ?? null);
  }

  /** False if the log has grown, or the file closes, before all rows were read. */
  private async forEachRow(
    table: StoredTable,
    cursor: number,
    body: (key: readonly CellValue[], cells: readonly CellValue[]) => void,
  ): Promise<boolean> {
    const keyCount = table.keys.length;
    for (let after: readonly CellValue[] | null = null; ;) {
      if (this.isClosed || this.file.log.watermark !== cursor) return false;
      const rows = this.file.sql.all(auditSliceSql(table.schema, after === null), ...(after ?? []));
      for (const row of rows) body(row.slice(0, keyCount), row.slice(keyCount));
      const last = rows.at(-1);
      if (last === undefined) return true;
      after = last.slice(0, keyCount);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
}
