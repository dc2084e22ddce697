/** How documents are stored. All stores use the same SQLite build and the same storage. */
export const STORE_NAMES = ['rockpool', 'json', 'jsonb'] as const;

export type StoreName = (typeof STORE_NAMES)[number];
