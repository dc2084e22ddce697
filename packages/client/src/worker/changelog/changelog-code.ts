// The code of the changelog that opening and writing do not need, in one chunk, which load-changelog-code.ts loads.
export { listRejected, listWaiting } from './list-rejected.ts';
export { rowSyncState } from './row-sync-state.ts';
export { forgetBefore, insertKept } from './move-changesets.ts';
export { moveEarlierSites } from './move-earlier-sites.ts';
export { moveNames } from './move-names.ts';
export { decodePack, moveBack, packRun } from './pack-changesets.ts';
export { renumber } from './renumber.ts';
