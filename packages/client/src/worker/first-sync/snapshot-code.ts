// The code that is needed only to take a snapshot, in one chunk, which load-snapshot-code.ts loads.
export { importFile } from '@rockpool/vfs-opfs';
export { adoptSnapshot } from './adopt-snapshot.ts';
export { downloadSnapshot } from './download-snapshot.ts';
