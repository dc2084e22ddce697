import { EXISTENCE_COLUMN_ID, keyToString, type CellValue, type ChangeKind } from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';

/** One row of a changeset, checked against the schema. */
export interface RowWrite {
  readonly table: StoredTable;
  readonly kind: ChangeKind;
  readonly key: readonly CellValue[];
  readonly keyBytes: Uint8Array;
  /** Table id and key: the row's key in a Map. */
  readonly name: string;
  readonly values: ReadonlyMap<number, CellValue>;
  /** Older bases, by column id, of cells that a pending write of the author covered. */
  readonly cellBases: ReadonlyMap<number, number>;
}

export function rowName(tableId: number, key: readonly CellValue[]): string {
  return `${tableId}:${keyToString(key)}`;
}

/**
 * The watermark up to which the author of a write had seen a column. It is at most the row's own base: an author who
 * had not seen the row had not seen its cells.
 */
export function baseOf(
  { cellBases }: RowWrite,
  changesetBase: number,
  cellBase: number = changesetBase,
): (columnId: number) => number {
  if (cellBases.size === 0 && cellBase === changesetBase) return () => changesetBase;
  const rowBase = Math.min(changesetBase, cellBases.get(EXISTENCE_COLUMN_ID) ?? changesetBase);
  return (columnId) =>
    columnId === EXISTENCE_COLUMN_ID ? rowBase : Math.min(rowBase, cellBase, cellBases.get(columnId) ?? rowBase);
}
