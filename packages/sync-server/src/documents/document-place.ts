import type { StoredTable } from '../sqlite/stored-table.ts';

/** The cell of a document. */
export interface DocumentPlace {
  readonly table: StoredTable;
  readonly keyBytes: Uint8Array;
  readonly columnId: number;
}

/** The parameters of `table_id = ? AND key = ? AND column_id = ?`. */
export function keyOf({ table, keyBytes, columnId }: DocumentPlace): [bigint, Uint8Array, bigint] {
  return [BigInt(table.schema.id), keyBytes, BigInt(columnId)];
}
