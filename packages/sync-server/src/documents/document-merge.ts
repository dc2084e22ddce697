import type { CellValue, DocumentMerge, DocumentRule, MergedDocument, OverwrittenPlace, RowRules } from '@rockpool/shared';
import { canonicalJson, isDocumentEdit, isEditOf, type JsonValue, type OverwrittenMember } from '@rockpool/shared/document';
import type { RowWrite } from '../push/read-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { versionOfOperations, type WhichDocument } from './document-authors.ts';
import type { DocumentPlace } from './document-place.ts';
import { compactAbove, readReplaced } from './document-store.ts';
import { documentOfEdit } from './document-work.ts';

/** The rules of one row. */
export function rulesOfRow(file: DatabaseFile, { table, keyBytes }: Pick<RowWrite, 'table' | 'keyBytes'>): RowRules {
  const documents = new Map<number, DocumentMerge>();
  for (const [columnId, rule] of table.documents) documents.set(columnId, documentMerge(file, { table, keyBytes, columnId }, rule));
  return { ...table.rules, documents };
}

/** Edits go into the document; see document-work.ts. */
function documentMerge(file: DatabaseFile, place: DocumentPlace, rule: DocumentRule): DocumentMerge {
  return {
    isEdit: isDocumentEdit,
    isEditOf: (document, edit) => document !== null && isEditOf(document, edit),
    merge(document: CellValue, edit: CellValue, site: string): MergedDocument | null {
      const of = document === null ? null : documentOfEdit(document, edit, () => readReplaced(file.sql, place));
      if (of === null) return null;
      const { state, overwritten, overwrittenInReplaced } = file.documents.work({
        kind: 'merge',
        document: document as Uint8Array,
        replaced: of.replaced,
        edit: edit as Uint8Array,
        rule,
        site,
        compactAbove: compactAbove(file.sql, place),
      });
      const told = [...overwritten.map((member) => overwrittenPlace(file, place, member, 'now')), ...overwrittenInReplaced.map((member) => overwrittenPlace(file, place, member, 'replaced'))];
      return { document: state, overwritten: told };
    },
  };
}

function overwrittenPlace(file: DatabaseFile, place: DocumentPlace, { path, own, other, otherIds, ownStands }: OverwrittenMember, which: WhichDocument): OverwrittenPlace {
  return {
    path: JSON.stringify(path),
    own: textOf(own),
    other: textOf(other),
    otherVersion: versionOfOperations(file, place, which, otherIds),
    ownStands,
  };
}

function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : canonicalJson(value);
}
