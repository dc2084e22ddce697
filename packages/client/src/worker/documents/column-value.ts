import type { CellValue } from '@rockpool/shared';
import type { ColumnRules } from '../apply/row-state.ts';
import { documentSupport } from './load-document-support.ts';

/** What a column of the app holds for a value of a row: of documents their JSON. */
export function toColumnValue({ documents, readBase }: Pick<ColumnRules, 'documents' | 'readBase'>, columnId: number, value: CellValue): CellValue {
  return value === null || !documents.has(columnId) ? value : documentSupport().documentText(value, readBase);
}
