import type { Adapters } from '../page/host.ts';

/** The adapters of the page that `npm run bench:page` serves. */
export const ADAPTERS: Adapters = {
  rockpool: () => import('../storage/adapters/rockpool.ts'),
  'sqlite-wasm': () => import('../storage/adapters/sqlite-wasm.ts'),
  'raw-indexeddb': () => import('../storage/adapters/raw-indexeddb.ts'),
};
