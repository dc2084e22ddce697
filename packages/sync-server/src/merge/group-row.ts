import { encodeKey, type CellValue, type ChangeKind } from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { RowWrite } from './row-write.ts';

/** The rows of one group of a changeset, by column. */
export interface GroupColumns {
  readonly table: StoredTable;
  readonly kind: ChangeKind;
  readonly keys: readonly (readonly CellValue[])[];
  /** The index of each column in `values`, by column id. */
  readonly indexOf: ReadonlyMap<number, number>;
  readonly values: readonly (readonly CellValue[])[];
}

/**
 * A row of a group. It refers to the columns and copies nothing: a changeset has up to 131,072 rows, and a copied key,
 * its bytes and a map of values would take a hundred times the memory of a short row.
 */
export class GroupRow implements RowWrite {
  readonly name: string;
  readonly cellBases: ReadonlyMap<number, number>;
  private readonly columns: GroupColumns;
  private readonly row: number;

  constructor(columns: GroupColumns, row: number, name: string, cellBases: ReadonlyMap<number, number>) {
    this.columns = columns;
    this.row = row;
    this.name = name;
    this.cellBases = cellBases;
  }

  get table(): StoredTable {
    return this.columns.table;
  }

  get kind(): ChangeKind {
    return this.columns.kind;
  }

  get key(): readonly CellValue[] {
    return this.columns.keys.map((part) => part[this.row] as CellValue);
  }

  get keyBytes(): Uint8Array {
    return encodeKey(this.key);
  }

  get values(): ReadonlyMap<number, CellValue> {
    return this.columns.indexOf.size === 0 ? NO_VALUES : new RowValues(this.columns, this.row);
  }
}

const NO_VALUES: ReadonlyMap<number, CellValue> = new Map();

/** The values of one row, by column id. */
class RowValues implements ReadonlyMap<number, CellValue> {
  private readonly columns: GroupColumns;
  private readonly row: number;

  constructor(columns: GroupColumns, row: number) {
    this.columns = columns;
    this.row = row;
  }

  get size(): number {
    return this.columns.indexOf.size;
  }

  get(columnId: number): CellValue | undefined {
    const index = this.columns.indexOf.get(columnId);
    return index === undefined ? undefined : this.columns.values[index]?.[this.row];
  }

  has(columnId: number): boolean {
    return this.columns.indexOf.has(columnId);
  }

  keys(): MapIterator<number> {
    return this.columns.indexOf.keys();
  }

  values(): MapIterator<CellValue> {
    return this.copy().values();
  }

  entries(): MapIterator<[number, CellValue]> {
    return this.copy().entries();
  }

  [Symbol.iterator](): MapIterator<[number, CellValue]> {
    return this.entries();
  }

  forEach(body: (value: CellValue, columnId: number, map: ReadonlyMap<number, CellValue>) => void): void {
    for (const columnId of this.keys()) body(this.get(columnId) as CellValue, columnId, this);
  }

  private copy(): Map<number, CellValue> {
    return new Map([...this.keys()].map((columnId) => [columnId, this.get(columnId) as CellValue]));
  }
}
