import type { CellValue, DocumentMerge, DocumentRule, RowRules } from '@rockpool/shared';
import { carryOver, compactDocument, isDocumentEdit, isEditOf, mergeForeignEdit } from '@rockpool/shared/document';
import type { RowWrite } from '../push/read-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../store/internal-tables.ts';
import { compactAbove, readReplaced, type DocumentPlace } from './document-store.ts';

/** The rules of one row. `watermark`: of the changeset that is merged. */
export function rulesOfRow(file: DatabaseFile, { table, keyBytes }: Pick<RowWrite, 'table' | 'keyBytes'>, watermark: number): RowRules {
  const documents = new Map<number, DocumentMerge>();
  for (const [columnId, rule] of table.documents) documents.set(columnId, documentMerge(file, { table, keyBytes, columnId }, rule, watermark));
  return { ...table.rules, documents };
}

/**
 * Edits go into the document, and one that has grown far beyond its content is replaced by a new one with that content alone. Late edits of the
 * replaced one are carried over.
 */
function documentMerge(file: DatabaseFile, place: DocumentPlace, rule: DocumentRule, watermark: number): DocumentMerge {
  return {
    isEdit: isDocumentEdit,
    isEditOf: (document, edit) => document !== null && isEditOf(document, edit),
    merge(document: CellValue, edit: CellValue, site: string): CellValue | null {
      if (document === null) return null;
      if (isEditOf(document, edit)) {
        const merged = mergeForeignEdit(document, edit, rule, site);
        return (merged as Uint8Array).length > compactAbove(file.sql, place) ? compactDocument(merged, rule) : merged;
      }
      const replaced = readReplaced(file.sql, place);
      if (replaced === null || !isEditOf(replaced, edit)) return null;
      return carryOver(document, replaced, mergeForeignEdit(replaced, edit, rule, site), rule, { site: SERVER_SITE, generation: watermark });
    },
  };
}
