import { bytesToHex } from '@rockpool/shared';
import type { Author } from '@rockpool/shared/document';
import type { Meta } from '../file/meta.ts';

/** The author of this device's document edits. */
export function documentAuthor(meta: Meta): Author {
  return { site: bytesToHex(meta.siteId), generation: meta.documentGeneration };
}

/**
 * Begins a new generation, which separates later edits from earlier ones. Call it whenever a local document may lack
 * edits that were made here: Yjs numbers operations from the current state, and would otherwise give two operations the
 * same id. Each generation adds a few bytes to a document.
 */
export function beginGeneration(meta: Meta): void {
  meta.set('document_generation', meta.documentGeneration + 1);
}

/**
 * The base watermark of every document edit. The author of an edit has seen every delivered edit of the document,
 * including those beneath pending edits, so no watermark would be too new.
 */
export const DOCUMENT_EDIT_BASE: number = Number.MAX_SAFE_INTEGER;
