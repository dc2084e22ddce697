import type { DocumentRule, TableSchema } from '@rockpool/shared';
import type { ReadBase } from '@rockpool/shared/document';

/** The document columns of a table. */
export interface DocumentColumns {
  /** By id. */
  readonly documents: ReadonlyMap<number, DocumentRule>;
  /** Reads the bases of layered document states, if the table may have any. */
  readonly readBase?: ReadBase | undefined;
}

/** Tables with document columns, by id. */
export type DocumentTables = ReadonlyMap<number, TableSchema>;

export function documentTables(tables: Iterable<TableSchema>): DocumentTables {
  return new Map([...tables].filter(({ merge }) => merge.documents.length > 0).map((table) => [table.id, table]));
}
