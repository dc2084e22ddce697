import {
  RockpoolError,
  tablePolicies,
  type CellValue,
  type ColumnRebase,
  type DocumentRule,
  type TablePolicies,
} from '@rockpool/shared';
import { expandContent, isDocumentEdit, mergeDelivered, mergeEdit, mergeEdits } from '@rockpool/shared/document';
import type { DocumentColumns } from './document-columns.ts';

/** The policies of a table, with those of document columns bound to the stored states. */
export function bindToStates(policies: TablePolicies, { documents, readBase }: DocumentColumns): TablePolicies {
  return tablePolicies(
    [...policies.byColumn].map(([columnId, policy]) => {
      const rule = documents.get(columnId);
      return [columnId, rule === undefined ? policy : { ...policy, rebase: documentRebase(rule, readBase) }];
    }),
  );
}

function documentRebase(rule: DocumentRule, readBase: DocumentColumns['readBase']): ColumnRebase {
  const merged = (document: CellValue, edit: CellValue): CellValue => mergeEdit(document, edit, readBase);
  const mergedUnlessGap = (document: CellValue, edit: CellValue): CellValue =>
    unlessGap(() => merged(document, edit)) ?? document;
  return {
    pending: (before, value) => (isDocumentEdit(value) ? merged(before, value) : expandContent(value, rule)),
    // An edit with a gap may build on an edit in the same delivery; the delivered document then contains both.
    admitted: (before, value) => (isDocumentEdit(value) ? mergedUnlessGap(before, value) : expandContent(value, rule)),
    delivered: (atCursor, value) => mergeDelivered(atCursor, value, readBase),
    edits: {
      isEdit: isDocumentEdit,
      pending: (document, edits) => mergeEdits(document, edits, readBase),
      admitted: (document, edits) =>
        unlessGap(() => mergeEdits(document, edits, readBase)) ?? edits.reduce(mergedUnlessGap, document),
    },
  };
}

/** Undefined if an edit builds on one that the document lacks. */
export function unlessGap(merge: () => CellValue): CellValue | undefined {
  try {
    return merge();
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'document-gap') return undefined;
    throw thrown;
  }
}
