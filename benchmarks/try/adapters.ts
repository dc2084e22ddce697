import type { Adapters } from '../page/host.ts';

/** Those of the page that anyone can open. */
export const ADAPTERS: Adapters = {
  rockpool: () => import('../storage/adapters/rockpool.ts'),
  'sqlite-wasm': () => import('../storage/adapters/sqlite-wasm.ts'),
  'raw-indexeddb': () => import('../storage/adapters/raw-indexeddb.ts'),
};
