import {
  bindDocuments,
  RockpoolError,
  type CellValue,
  type ColumnRebase,
  type DocumentRule,
  type TablePolicies,
} from '@rockpool/shared';
import type { DocumentColumns } from './document-columns.ts';
import { documentSupport } from './load-document-support.ts';

/** The policies of a table, with those of document columns bound to the stored states. */
export function bindToStates(policies: TablePolicies, { documents, readBase }: DocumentColumns): TablePolicies {
  if (documents.size === 0) return policies;
  return bindDocuments(policies, (columnId) => ({
    rebase: documentRebase(documents.get(columnId) as DocumentRule, readBase),
  }));
}

function documentRebase(rule: DocumentRule, readBase: DocumentColumns['readBase']): ColumnRebase {
  const isEdit = (value: CellValue): boolean => documentSupport().isDocumentEdit(value);
  const expand = (value: CellValue): CellValue => documentSupport().expandContent(value, rule);
  const merged = (document: CellValue, edit: CellValue): CellValue =>
    documentSupport().mergeEdit(document, edit, readBase);
  const mergedUnlessGap = (document: CellValue, edit: CellValue): CellValue =>
    unlessGap(() => merged(document, edit)) ?? document;
  return {
    pending: (before, value) => (isEdit(value) ? merged(before, value) : expand(value)),
    // An edit with a gap may build on one that the same delivery carries; the delivered document then contains both.
    admitted: (before, value) => (isEdit(value) ? mergedUnlessGap(before, value) : expand(value)),
    delivered: (atCursor, value) => documentSupport().mergeDelivered(atCursor, value, readBase),
    edits: {
      isEdit,
      pending: (document, edits) => documentSupport().mergeEdits(document, edits, readBase),
      admitted: (document, edits) =>
        unlessGap(() => documentSupport().mergeEdits(document, edits, readBase)) ??
        edits.reduce(mergedUnlessGap, document),
    },
  };
}

/** Undefined if an edit builds on one that the document lacks. */
function unlessGap(merge: () => CellValue): CellValue | undefined {
  try {
    return merge();
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'document-gap') return undefined;
    throw thrown;
  }
}
