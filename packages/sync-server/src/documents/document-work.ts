import { createHash } from 'node:crypto';
import { RockpoolError, type CellValue, type DocumentRule } from '@rockpool/shared';
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

/** Work on a document as data, for this thread or another one (document-desk.ts). */
export type DocumentWork = MergeWork | ExpandWork;

/** Merges an edit into its document. */
export interface MergeWork {
  readonly kind: 'merge';
  readonly document: Uint8Array;
  /** The replaced document, if the edit belongs to it; null if the edit belongs to the current document. */
  readonly replaced: Uint8Array | null;
  readonly edit: Uint8Array;
  readonly rule: DocumentRule;
  readonly site: string;
  /**
   * Compacts a state above this size in bytes if that halves it. With 0, always compacts, whatever it saves; with
   * Infinity, never.
   */
  readonly compactAbove: number;
}

/** Builds a document from its content. */
export interface ExpandWork {
  readonly kind: 'expand';
  readonly content: Uint8Array;
  readonly rule: DocumentRule;
}

export interface WorkedDocument {
  readonly state: Uint8Array;
  /** The JSON for the app's column. */
  readonly text: string;
  readonly overwritten: readonly OverwrittenMember[];
  /** Members overwritten in the replaced document, if the edit belongs to it, with that document's operations. */
  readonly overwrittenInReplaced: readonly OverwrittenMember[];
  /** The replaced document with the edit included; null if the edit went into the current document. */
  readonly replaced: Uint8Array | null;
  /** The form of the edit in the current document, if it was an edit of the replaced one; null otherwise. */
  readonly carried: CarriedOver | null;
  /** The size in bytes at which to retry a compaction that would not have halved the state; null otherwise. */
  readonly compactAbove: number | null;
}

export interface CarriedOver {
  /** The Yjs client of the carried edit. */
  readonly client: number;
  /** A Yjs update. */
  readonly update: Uint8Array;
}

/** A document is compacted when its state exceeds this multiple of its initial size. */
export const GROWTH = 3;

/** Minimum share of the state that compaction has to save, because it sends the whole document to every reader. */
const LEAST_SAVING = 0.5;

type Merged = Omit<WorkedDocument, 'text' | 'state'> & { readonly state: CellValue };

/** Pure. Throws `document-invalid` and `document-gap`. */
export function workOnDocument(work: DocumentWork): WorkedDocument {
  const worked: Merged =
    work.kind === 'merge'
      ? merge(work)
      : { ...UNREPLACED, state: expandContent(work.content, work.rule), overwritten: [] };
  const text = documentText(worked.state);
  const { maxLength } = work.rule;
  // The limit applies to the column, and content that is not canonical may be shorter than its column.
  if (text.length > maxLength) throw new RockpoolError('document-invalid', { problem: 'size', limit: maxLength });
  return { ...worked, state: worked.state as Uint8Array, text };
}

/**
 * Merges an edit. Replaces a document that has grown far beyond its content by a new one without history. Carries late
 * edits of the replaced document over to the current one.
 */
function merge({ document, replaced, edit, rule, site, compactAbove }: MergeWork): Merged {
  if (replaced !== null) {
    const late = mergeForeignEdit(replaced, edit, rule, site);
    const author = carrier(document, replaced, edit);
    const { state, overwritten, update } = carryOver(document, replaced, late.state, rule, author);
    const reported = new Set(overwritten.map(({ path }) => JSON.stringify(path)));
    // Omits paths that are in both documents, because the value in the current document is more precise.
    const overwrittenInReplaced = late.overwritten.filter(({ path }) => !reported.has(JSON.stringify(path)));
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
 * The author of a carried edit: the server's site, which no client uses. The generation is a digest of everything that
 * determines the edit, because two different edits under one Yjs client would destroy the document. A counter could
 * repeat after a restore from a backup.
 */
function carrier(document: Uint8Array, replaced: Uint8Array, edit: Uint8Array): Author {
  const digest = createHash('sha256');
  for (const part of [document, replaced, edit]) digest.update(createHash('sha256').update(part).digest());
  return { site: SERVER_SITE, generation: digest.digest().readUIntBE(0, 6) };
}

/**
 * The document that an edit belongs to: the current one (`replaced: null`), or the one that it replaced. Null if it
 * belongs to neither.
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
