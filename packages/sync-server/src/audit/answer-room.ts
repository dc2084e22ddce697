import { MAX_MESSAGE_BYTES, type CellValue, type ChangeGroup } from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';

export interface AnswerLimits {
  /** The maximum size of the rows of an answer. A single range may exceed it. */
  readonly answerBytes: number;
  /** The maximum size of the rows of a range. */
  readonly rangeBytes: number;
}

/** A range may take as much as a message, minus its range numbers and the ids of its columns. */
export const ANSWER_LIMITS: AnswerLimits = {
  answerBytes: 4 * 1024 * 1024,
  rangeBytes: MAX_MESSAGE_BYTES - 1024 * 1024,
};

/** What a cell takes in memory besides its text or bytes. In a message it takes at most 10 bytes. */
const CELL_BYTES = 40;

/** The size of a row in memory, which is more than its size in a message. */
export function rowBytes(values: readonly CellValue[]): number {
  let bytes = CELL_BYTES * values.length;
  for (const value of values)
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (value instanceof Uint8Array) bytes += value.length;
  return bytes;
}

/** The room for rows in one answer to an audit, over all its tables. */
export class AnswerRoom {
  private readonly limits: AnswerLimits;
  private takenBytes = 0;

  constructor(limits: AnswerLimits) {
    this.limits = limits;
  }

  /** The limit for the rows of a table, in bytes. `isSingle`: they belong to one range. */
  limitFor(isSingle: boolean): number {
    const { answerBytes, rangeBytes } = this.limits;
    return this.takenBytes === 0 && isSingle ? rangeBytes : answerBytes - this.takenBytes;
  }

  /** The ranges that fit, in order, by their sizes. Leaves out a range that no answer has room for. */
  choose(ranges: readonly number[], rangeBytes: Float64Array): number[] {
    const chosen: number[] = [];
    let sizeBytes = 0;
    for (const range of ranges) {
      const withRange = sizeBytes + (rangeBytes[range] as number);
      if (withRange > this.limitFor(chosen.length === 0)) continue;
      chosen.push(range);
      sizeBytes = withRange;
    }
    return chosen;
  }

  take(sizeBytes: number): void {
    this.takenBytes += sizeBytes;
  }
}

interface Row {
  readonly key: readonly CellValue[];
  readonly cells: readonly CellValue[];
}

/**
 * The rows of some ranges of a table. The state of a document may be far larger than its JSON, by which the ranges were
 * chosen, so ranges that turn out not to fit are dropped again, last first.
 */
export class RangeRows {
  sizeBytes = 0;
  private readonly table: StoredTable;
  private readonly columnIds: readonly number[];
  private readonly room: AnswerRoom;
  private readonly byRange: Map<number, { readonly rows: Row[]; sizeBytes: number }>;

  /** `columnIds` are the columns of the cells. */
  constructor(table: StoredTable, columnIds: readonly number[], ranges: readonly number[], room: AnswerRoom) {
    this.table = table;
    this.columnIds = columnIds;
    this.room = room;
    this.byRange = new Map(ranges.map((range) => [range, { rows: [], sizeBytes: 0 }]));
  }

  get ranges(): number[] {
    return [...this.byRange.keys()];
  }

  has(range: number): boolean {
    return this.byRange.has(range);
  }

  add(range: number, key: readonly CellValue[], cells: readonly CellValue[]): void {
    const ofRange = this.byRange.get(range);
    if (ofRange === undefined) return;
    const sizeBytes = rowBytes(key) + rowBytes(cells);
    ofRange.rows.push({ key, cells });
    ofRange.sizeBytes += sizeBytes;
    this.sizeBytes += sizeBytes;
    while (this.byRange.size > 0 && this.sizeBytes > this.room.limitFor(this.byRange.size === 1)) this.dropLast();
  }

  /** The rows as inserts; empty if there are none. */
  toGroups(): ChangeGroup[] {
    const rows = [...this.byRange.values()].flatMap((ofRange) => ofRange.rows);
    if (rows.length === 0) return [];
    return [
      {
        tableId: this.table.schema.id,
        kind: 'insert',
        rowCount: rows.length,
        keys: this.table.keys.map((_, part) => rows.map(({ key }) => key[part] as CellValue)),
        columnIds: this.columnIds,
        values: this.columnIds.map((_, column) => rows.map(({ cells }) => cells[column] ?? null)),
      },
    ];
  }

  private dropLast(): void {
    const last = this.ranges.at(-1) as number;
    this.sizeBytes -= this.byRange.get(last)?.sizeBytes ?? 0;
    this.byRange.delete(last);
  }
}
