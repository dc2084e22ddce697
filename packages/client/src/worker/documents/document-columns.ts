import type { CellValue, DocumentRule, TableSchema } from '@rockpool/shared';
import type { ReadBase } from '@rockpool/shared/document';
import { documentSupport } from './load-document-support.ts';

/** The document columns of a table. */
export interface DocumentColumns {
  /** By id. */
  readonly documents: ReadonlyMap<number, DocumentRule>;
  /** Reads the bases of layered document states, if the table may have any. */
  readonly readBase?: ReadBase | undefined;
}

/** The value of the app's column for a value of a row state: JSON for a document, else the value itself. */
export function toColumnValue({ documents, readBase }: DocumentColumns, columnId: number, value: CellValue): CellValue {
  return value === null || !documents.has(columnId) ? value : documentSupport().documentText(value, readBase);
}

/** Tables with document columns, by id. */
export type DocumentTables = ReadonlyMap<number, TableSchema>;

export function documentTables(tables: Iterable<TableSchema>): DocumentTables {
  return new Map([...tables].filter(({ merge }) => merge.documents.length > 0).map((table) => [table.id, table]));
}
