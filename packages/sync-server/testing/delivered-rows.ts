import { columnIdOf, tableIdOf, type CellValue, type Delivery } from '@rockpool/shared';

export interface DeliveredRow {
  readonly kind: Delivery['groups'][number]['kind'];
  readonly key: readonly (CellValue | undefined)[];
  readonly cells: ReadonlyMap<number, CellValue | undefined>;
}

/** Returns the rows of one table in a delivery. */
export function deliveredRows({ groups }: Delivery, table: string): DeliveredRow[] {
  return groups
    .filter(({ tableId }) => tableId === tableIdOf(table))
    .flatMap(({ kind, rowCount, keys, columnIds, values }) =>
      Array.from({ length: rowCount }, (_, r) => ({
        kind,
        key: keys.map((part) => part[r]),
        cells: new Map(columnIds.map((id, c) => [id, values[c]?.[r]])),
      })),
    );
}

export function cells(row: Record<string, CellValue>): Map<number, CellValue> {
  return new Map(Object.entries(row).map(([name, value]) => [columnIdOf(name), value]));
}
