import type { CellValue } from '@rockpool/shared';
import { toColumnValue } from '../documents/document-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { shownCells } from '../store/nulled-references.ts';
import type { KnownRow } from '../store/row-store.ts';
import type { MergedRow } from './merged-row.ts';

/** A row by column name. A document is its JSON text. */
export type NamedRow = Readonly<Record<string, CellValue>>;

/** One row before and after a changeset. Null if the row does not exist. */
export interface BackendRowChange {
  readonly table: string;
  readonly key: NamedRow;
  readonly before: NamedRow | null;
  readonly after: NamedRow | null;
}

export function toRowChange({ write: { table, key }, before, after }: MergedRow): BackendRowChange {
  return {
    table: table.schema.name,
    key: namedKey(table, key),
    before: toNamedRow(table, before),
    after: toNamedRow(table, after),
  };
}

function toNamedRow(table: StoredTable, known: KnownRow | undefined): NamedRow | null {
  if (known === undefined || known.row.deleted !== null) return null;
  return Object.fromEntries(
    [...shownCells(known.row.cells, known.nulled)].map(([columnId, { value }]) => [
      columnName(table, columnId),
      toColumnValue(table, columnId, value),
    ]),
  );
}

export function namedKey(table: StoredTable, key: readonly CellValue[]): NamedRow {
  return Object.fromEntries(table.keys.map(({ name }, i) => [name, key[i] ?? null]));
}

export function columnName(table: StoredTable, columnId: number): string {
  return table.valueById.get(columnId)?.name ?? String(columnId);
}
