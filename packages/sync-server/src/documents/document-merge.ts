import type { CellValue, DocumentMerge, DocumentRule, MergedDocument, OverwrittenPlace, RowRules } from '@rockpool/shared';
import { canonicalJson, carryOver, compactDocument, isDocumentEdit, isEditOf, mergeForeignEdit, type OverwrittenMember } from '@rockpool/shared/document';
import type { RowWrite } from '../push/read-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../store/internal-tables.ts';
import { compactAbove, readReplaced, versionOfOperation, type DocumentPlace } from './document-store.ts';

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
    merge(document: CellValue, edit: CellValue, site: string): MergedDocument | null {
      if (document === null) return null;
      if (isEditOf(document, edit)) {
        const { state, overwritten } = mergeForeignEdit(document, edit, rule, site);
        const merged = state.length > compactAbove(file.sql, place) ? compactDocument(state, rule) : state;
        return { document: merged, overwritten: overwritten.map((member) => overwrittenPlace(file, place, member)) };
      }
      const replaced = readReplaced(file.sql, place);
      if (replaced === null || !isEditOf(replaced, edit)) return null;
      const { state } = mergeForeignEdit(replaced, edit, rule, site);
      return { document: carryOver(document, replaced, state, rule, { site: SERVER_SITE, generation: watermark }), overwritten: [] };
    },
  };
}

function overwrittenPlace(file: DatabaseFile, place: DocumentPlace, { path, own, other, otherId, ownStands }: OverwrittenMember): OverwrittenPlace {
  return {
    path: JSON.stringify(path),
    own: canonicalJson(own),
    other: other === undefined ? null : canonicalJson(other),
    otherVersion: versionOfOperation(file, place, otherId),
    ownStands,
  };
}
