/** How documents are kept. All on one build of SQLite and one storage. */
export const STORE_NAMES = ['rockpool', 'json', 'jsonb'] as const;

export type StoreName = (typeof STORE_NAMES)[number];
