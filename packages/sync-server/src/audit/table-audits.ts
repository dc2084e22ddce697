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
import { deliveredText } from '../documents/document-store.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import { ANSWER_LIMITS, AnswerRoom, RangeRows, rowBytes, type AnswerLimits } from './answer-room.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/** The size of a slice after which it ends early: a table may have values of some megabytes. */
const SLICE_BYTES = 1024 * 1024;

/** A fingerprint of a table, and the sizes of its ranges if it has several. */
interface KnownTable {
  readonly fingerprint: TableFingerprint;
  /** See rowBytes. Documents count as their JSON. */
  readonly rangeBytes: Float64Array;
}

const NOT_COMPARED = { type: 'audit-answer', compared: false, differing: [], groups: [] } as const;

/**
 * Compares the tables of clients with the server's by fingerprint. Reads tables in slices, one per turn of the event
 * loop, and gives up when the log grows: two sides compare only at one watermark. Clients at the same watermark share
 * one reading.
 */
export class TableAudits {
  private readonly file: DatabaseFile;
  private readonly limits: AnswerLimits;
  private readonly fingerprints = new Map<string, Promise<KnownTable | null>>();
  private watermark = 0;
  private isClosed = false;

  constructor(file: DatabaseFile, limits: AnswerLimits = ANSWER_LIMITS) {
    this.file = file;
    this.limits = limits;
  }

  /**
   * Returns `compared: false` if the log is past the client's cursor or grows meanwhile, or if the answer is no longer
   * wanted. Throws `schema-unknown-table`, and `frame-invalid` if a table occurs twice: each occurrence would read the
   * whole table.
   */
  async answer({ cursor, tables }: Audit, isWanted: () => boolean = () => true): Promise<AuditAnswer> {
    if (new Set(tables.map(({ tableId }) => tableId)).size < tables.length)
      throw new RockpoolError('frame-invalid', { problem: 'the audit has a table twice' });
    const differing: DifferingTable[] = [];
    const groups: ChangeGroup[] = [];
    const room = new AnswerRoom(this.limits);
    const tooLarge: DifferingTable[] = [];
    for (const { tableId, sums } of tables) {
      const table = this.file.tableById.get(tableId);
      if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { tableId });
      if (!isWanted()) return { ...NOT_COMPARED, cursor };
      const rangeCount = sums.length / 2;
      const mine = await this.fingerprint(table, rangeCount, cursor);
      if (mine === null) return { ...NOT_COMPARED, cursor };
      const ranges = differingRanges(mine.fingerprint.sums, sums);
      if (ranges.length === 0) continue;
      if (rangeCount === 1) {
        differing.push({ tableId, ranges: [] });
        continue;
      }
      const chosen = room.choose(ranges, mine.rangeBytes);
      const rows = await this.readRanges(table, rangeCount, chosen, room, cursor);
      if (rows === null) return { ...NOT_COMPARED, cursor };
      const carried = rows.ranges;
      if (carried.length > 0) differing.push({ tableId, ranges: carried });
      else tooLarge.push({ tableId, ranges: [rangeCount] });
      groups.push(...rows.toGroups());
    }
    // Tables that did not fit differ too, and the next audit finds them.
    return {
      type: 'audit-answer',
      cursor,
      compared: true,
      differing: differing.length > 0 ? differing : tooLarge,
      groups,
    };
  }

  /** Stops reading: the file is about to close. */
  close(): void {
    this.isClosed = true;
  }

  private fingerprint(table: StoredTable, rangeCount: number, cursor: number): Promise<KnownTable | null> {
    if (this.file.log.watermark !== cursor) return Promise.resolve(null);
    if (this.watermark !== cursor) this.fingerprints.clear();
    this.watermark = cursor;
    const name = `${table.schema.id}:${rangeCount}`;
    const known = this.fingerprints.get(name) ?? this.read(table, rangeCount, cursor);
    this.fingerprints.set(name, known);
    return known;
  }

  private async read(table: StoredTable, rangeCount: number, cursor: number): Promise<KnownTable | null> {
    const fingerprint = new TableFingerprint(table.schema, rangeCount);
    const rangeBytes = new Float64Array(rangeCount);
    const columnIds = auditedColumnIds(table.schema);
    const whole = await this.forEachRow(table, cursor, (key, cells, sizeBytes) => {
      fingerprint.add(key, this.asDelivered(table, columnIds, key, cells));
      if (rangeCount === 1) return;
      const range = fingerprint.rangeOfKey(key);
      rangeBytes[range] = (rangeBytes[range] as number) + sizeBytes;
    });
    return whole ? { fingerprint, rangeBytes } : null;
  }

  /** The rows of these ranges, as far as the answer has room for them. Null if the log has grown. */
  private async readRanges(
    table: StoredTable,
    rangeCount: number,
    ranges: readonly number[],
    room: AnswerRoom,
    cursor: number,
  ): Promise<RangeRows | null> {
    const fingerprint = new TableFingerprint(table.schema, rangeCount);
    const columnIds = auditedColumnIds(table.schema);
    const rows = new RangeRows(table, columnIds, ranges, room);
    if (ranges.length === 0) return rows;
    const whole = await this.forEachRow(table, cursor, (key, cells) => {
      const range = fingerprint.rangeOfKey(key);
      if (rows.has(range)) rows.add(range, key, this.withStates(table, columnIds, key, cells));
    });
    if (!whole) return null;
    room.take(rows.sizeBytes);
    return rows;
  }

  /** The cells with the JSON of documents in the form that clients have. */
  private asDelivered(
    table: StoredTable,
    columnIds: readonly number[],
    key: readonly CellValue[],
    cells: readonly CellValue[],
  ): readonly CellValue[] {
    if (table.documents.size === 0) return cells;
    const keyBytes = encodeKey(key);
    return cells.map((cell, index) =>
      deliveredText(this.file.sql, { table, keyBytes, columnId: columnIds[index] as number }, cell),
    );
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
    body: (key: readonly CellValue[], cells: readonly CellValue[], sizeBytes: number) => void,
  ): Promise<boolean> {
    const keyCount = table.keys.length;
    for (let after: readonly CellValue[] | null = null; ;) {
      if (this.isClosed || this.file.log.watermark !== cursor) return false;
      let last: readonly CellValue[] | null = null;
      let sliceBytes = 0;
      for (const row of this.file.sql.some(auditSliceSql(table.schema, after === null), ...(after ?? []))) {
        last = row.slice(0, keyCount);
        const sizeBytes = rowBytes(row);
        body(last, row.slice(keyCount), sizeBytes);
        sliceBytes += sizeBytes;
        if (sliceBytes > SLICE_BYTES) break;
      }
      if (last === null) return true;
      after = last;
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
}
