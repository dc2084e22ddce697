import { createHash } from 'node:crypto';
import type { CellValue, DocumentRule } from '@rockpool/shared';
import { carryOver, clientIdOf, compactDocument, documentText, expandContent, isEditOf, mergeForeignEdit, type Author, type OverwrittenMember } from '@rockpool/shared/document';
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
  /** The same of the document that this one took the place of, where the edit is of that one: operations are its. */
  readonly overwrittenInReplaced: readonly OverwrittenMember[];
  /** The document that this one takes the place of, with the edit in it; null where the edit went into the document as it is. */
  readonly replaced: Uint8Array | null;
  /** As which Yjs client the edit was carried over; null where it was not. */
  readonly carriedBy: number | null;
}

type Merged = Omit<WorkedDocument, 'text' | 'state'> & { readonly state: CellValue };

/** Pure. Throws `document-invalid` and `document-gap`. */
export function workOnDocument(work: DocumentWork): WorkedDocument {
  const worked: Merged = work.kind === 'merge' ? merge(work) : { state: expandContent(work.content, work.rule), overwritten: [], overwrittenInReplaced: [], replaced: null, carriedBy: null };
  return { ...worked, state: worked.state as Uint8Array, text: documentText(worked.state) };
}

/**
 * Edits go into the document, and one that has grown far beyond its content is replaced by a new one with that content alone. Late edits of the
 * replaced one are carried over.
 */
function merge({ document, replaced, edit, rule, site, compactAbove }: MergeWork): Merged {
  if (replaced !== null) {
    const late = mergeForeignEdit(replaced, edit, rule, site);
    const author = carrier(document, replaced, edit);
    const { state, overwritten } = carryOver(document, replaced, late.state, rule, author);
    const told = new Set(overwritten.map(({ path }) => JSON.stringify(path)));
    // What stands at a place now says more than what stood there in the document that was replaced.
    return { state, overwritten, overwrittenInReplaced: late.overwritten.filter(({ path }) => !told.has(JSON.stringify(path))), replaced: late.state, carriedBy: clientIdOf(author.site, author.generation) };
  }
  const { state, overwritten } = mergeForeignEdit(document, edit, rule, site);
  const isTooLarge = state.length > compactAbove;
  return { state: isTooLarge ? compactDocument(state, rule) : state, overwritten, overwrittenInReplaced: [], replaced: isTooLarge ? state : null, carriedBy: null };
}

/**
 * As whom a late edit is made in the document of now: nobody else writes as the server. The generation is a digest of all that decides what is made, since two different edits
 * under one Yjs client would destroy the document. A number that counts could come again: a server that was restored from a backup counts from there.
 */
function carrier(document: Uint8Array, replaced: Uint8Array, edit: Uint8Array): Author {
  const digest = createHash('sha256');
  for (const part of [document, replaced, edit]) digest.update(createHash('sha256').update(part).digest());
  return { site: SERVER_SITE, generation: digest.digest().readUIntBE(0, 6) };
}

/** Which document an edit is of: the present one, or the one that it took the place of. Null: one that is no longer there. */
export function documentOfEdit(document: CellValue, edit: CellValue, readReplaced: () => CellValue): { readonly replaced: Uint8Array | null } | null {
  if (isEditOf(document, edit)) return { replaced: null };
  const replaced = readReplaced();
  return replaced !== null && isEditOf(replaced, edit) ? { replaced: replaced as Uint8Array } : null;
}
