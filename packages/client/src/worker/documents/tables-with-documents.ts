import type { TableSchema } from '@rockpool/shared';

/** Tables with document columns, by id. */
export type DocumentTables = ReadonlyMap<number, TableSchema>;

export function documentTables(tables: Iterable<TableSchema>): DocumentTables {
  return new Map([...tables].filter(({ merge }) => merge.documents.length > 0).map((table) => [table.id, table]));
}
