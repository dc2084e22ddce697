/**
 * How documents are stored: a document column as text or as binary JSON, and plain tables. All stores use the same
 * SQLite build and the same storage.
 */
export const STORE_NAMES = ['rockpool', 'rockpool (binary)', 'json', 'jsonb'] as const;

export type StoreName = (typeof STORE_NAMES)[number];
