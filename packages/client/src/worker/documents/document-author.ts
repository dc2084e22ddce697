import type { Author } from '@rockpool/shared/document';
import type { Meta } from '../database/meta.ts';

/** Who edits documents here. */
export function documentAuthor(meta: Meta): Author {
  const site = [...meta.siteId].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { site, generation: meta.documentGeneration };
}

/**
 * Edits from now on are told apart from all before. Call it whenever a document here may have become one that lacks
 * edits made here: Yjs would count on from what it sees, and give two operations one name. Costs each document a few
 * bytes.
 */
export function beginGeneration(meta: Meta): void {
  meta.set('document_generation', meta.documentGeneration + 1);
}

/**
 * The base watermark of every document edit. An author has seen every delivered edit of a document, including those
 * under pending edits, so no watermark is too new.
 */
export const DOCUMENT_EDIT_BASE: number = Number.MAX_SAFE_INTEGER;
