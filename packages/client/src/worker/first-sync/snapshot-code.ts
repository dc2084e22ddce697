// The code that is needed only to take a snapshot, in one chunk, which load-snapshot-code.ts loads.
export { downloadSnapshot } from './download-snapshot.ts';
export { takeFirstSync } from './take-first-sync.ts';
