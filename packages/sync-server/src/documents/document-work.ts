import type { CellValue, DocumentRule } from '@rockpool/shared';
import { carryOver, compactDocument, documentText, expandContent, isEditOf, mergeForeignEdit, type OverwrittenMember } from '@rockpool/shared/document';
import { SERVER_SITE } from '../store/internal-tables.ts';

/** What is to be done with a document that somebody sent, as data: in this thread or another (document-desk.ts). */
export type DocumentWork = MergeWork | ExpandWork;

/** An edit goes into its document. */
export interface MergeWork {
  readonly kind: 'merge';
  readonly document: Uint8Array;
  /** The document that the edit is of, where that was compacted; null where it is of the document as it is. */
  readonly replaced: Uint8Array | null;
  readonly edit: Uint8Array;
  readonly rule: DocumentRule;
  readonly site: string;
  /** Of the changeset that the edit is in. */
  readonly watermark: number;
  /** The size of a state, in bytes, from which on it is compacted. */
  readonly compactAbove: number;
}

/** A document is made of its content. */
export interface ExpandWork {
  readonly kind: 'expand';
  readonly content: Uint8Array;
  readonly rule: DocumentRule;
}

export interface WorkedDocument {
  readonly state: Uint8Array;
  /** What stands in the app's column. */
  readonly text: string;
  readonly overwritten: readonly OverwrittenMember[];
}

/** Pure. Throws `document-invalid` and `document-gap`. */
export function workOnDocument(work: DocumentWork): WorkedDocument {
  const { state, overwritten } = work.kind === 'merge' ? merge(work) : { state: expandContent(work.content, work.rule), overwritten: [] };
  return { state: state as Uint8Array, text: documentText(state), overwritten };
}

/**
 * Edits go into the document, and one that has grown far beyond its content is replaced by a new one with that content alone. Late edits of the
 * replaced one are carried over.
 */
function merge({ document, replaced, edit, rule, site, watermark, compactAbove }: MergeWork): { readonly state: CellValue; readonly overwritten: readonly OverwrittenMember[] } {
  if (replaced !== null) {
    const { state } = mergeForeignEdit(replaced, edit, rule, site);
    return { state: carryOver(document, replaced, state, rule, { site: SERVER_SITE, generation: watermark }), overwritten: [] };
  }
  const { state, overwritten } = mergeForeignEdit(document, edit, rule, site);
  return { state: state.length > compactAbove ? compactDocument(state, rule) : state, overwritten };
}

/** Which document an edit is of: the present one, or the one that it took the place of. Null: one that is no longer there. */
export function documentOfEdit(document: CellValue, edit: CellValue, readReplaced: () => CellValue): { readonly replaced: Uint8Array | null } | null {
  if (isEditOf(document, edit)) return { replaced: null };
  const replaced = readReplaced();
  return replaced !== null && isEditOf(replaced, edit) ? { replaced: replaced as Uint8Array } : null;
}
