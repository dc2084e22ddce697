/**
 * The base of a document's edit: everything delivered is in what the author sees, whatever is pending, so no watermark
 * is too new for it.
 */
export const SEEN_ALL: number = Number.MAX_SAFE_INTEGER;
