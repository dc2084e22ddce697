import { createHash } from 'node:crypto';
import type { CellValue, DocumentRule } from '@rockpool/shared';
import {
  carryOver,
  clientIdOf,
  compactDocument,
  documentText,
  expandContent,
  isEditOf,
  mergeForeignEdit,
  type Author,
  type OverwrittenMember,
} from '@rockpool/shared/document';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';

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
  /**
   * The state is compacted when it is larger, in bytes, and that saves half of it. 0: it is compacted whatever that
   * saves. Infinity: it stays as it is.
   */
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
  /**
   * The document that this one takes the place of, with the edit in it; null where the edit went into the document as
   * it is.
   */
  readonly replaced: Uint8Array | null;
  /** Set where the edit is of the replaced document: what it became in this one. Null otherwise. */
  readonly carried: CarriedOver | null;
  /**
   * Set where the document was too large, and compaction would not have halved it: the size at which to try again, in
   * bytes. Null otherwise.
   */
  readonly compactAbove: number | null;
}

export interface CarriedOver {
  /** The Yjs client that it was made as. */
  readonly client: number;
  /** A Yjs update. */
  readonly update: Uint8Array;
}

/** A document is compacted when its state has become this many times what it was when it was new. */
export const GROWTH = 3;

/** Compaction sends the whole document to every reader. It has to save at least this part of the state. */
const LEAST_SAVING = 0.5;

type Merged = Omit<WorkedDocument, 'text' | 'state'> & { readonly state: CellValue };

/** Pure. Throws `document-invalid` and `document-gap`. */
export function workOnDocument(work: DocumentWork): WorkedDocument {
  const worked: Merged =
    work.kind === 'merge'
      ? merge(work)
      : { ...UNREPLACED, state: expandContent(work.content, work.rule), overwritten: [] };
  return { ...worked, state: worked.state as Uint8Array, text: documentText(worked.state) };
}

/**
 * Edits go into the document, and one that has grown far beyond its content is replaced by a new one with that content
 * alone. Late edits of the replaced one are carried over.
 */
function merge({ document, replaced, edit, rule, site, compactAbove }: MergeWork): Merged {
  if (replaced !== null) {
    const late = mergeForeignEdit(replaced, edit, rule, site);
    const author = carrier(document, replaced, edit);
    const { state, overwritten, update } = carryOver(document, replaced, late.state, rule, author);
    const told = new Set(overwritten.map(({ path }) => JSON.stringify(path)));
    // What stands at a place now says more than what stood there in the document that was replaced.
    const overwrittenInReplaced = late.overwritten.filter(({ path }) => !told.has(JSON.stringify(path)));
    return {
      ...UNREPLACED,
      state,
      overwritten,
      overwrittenInReplaced,
      replaced: late.state,
      carried: { client: clientIdOf(author.site, author.generation), update },
    };
  }
  const { state, overwritten } = mergeForeignEdit(document, edit, rule, site);
  if (state.length <= compactAbove) return { ...UNREPLACED, state, overwritten };
  const compacted = compactDocument(state, rule);
  if (compactAbove > 0 && compacted.length > (1 - LEAST_SAVING) * state.length)
    return { ...UNREPLACED, state, overwritten, compactAbove: GROWTH * compacted.length };
  return { ...UNREPLACED, state: compacted, overwritten, replaced: state };
}

const UNREPLACED = { overwrittenInReplaced: [], replaced: null, carried: null, compactAbove: null } as const;

/**
 * As whom a late edit is made in the document of now: nobody else writes as the server. The generation is a digest of
 * all that decides what is made, since two different edits under one Yjs client would destroy the document. A number
 * that counts could come again: a server that was restored from a backup counts from there.
 */
function carrier(document: Uint8Array, replaced: Uint8Array, edit: Uint8Array): Author {
  const digest = createHash('sha256');
  for (const part of [document, replaced, edit]) digest.update(createHash('sha256').update(part).digest());
  return { site: SERVER_SITE, generation: digest.digest().readUIntBE(0, 6) };
}

/**
 * Which document an edit is of: the present one, or the one that it took the place of. Null: one that is no longer
 * there.
 */
export function documentOfEdit(
  document: CellValue,
  edit: CellValue,
  readReplaced: () => CellValue,
): { readonly replaced: Uint8Array | null } | null {
  if (isEditOf(document, edit)) return { replaced: null };
  const replaced = readReplaced();
  return replaced !== null && isEditOf(replaced, edit) ? { replaced: replaced as Uint8Array } : null;
}
