// The code that only taking a snapshot needs, in one chunk, which load-snapshot-code.ts loads.
export { adoptSnapshot } from './adopt-snapshot.ts';
export { downloadSnapshot } from './download-snapshot.ts';
