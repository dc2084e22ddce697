// The code that is needed only to restore a file, in one chunk, which databases.ts loads.
export { importFile } from '@rockpool/vfs-opfs';
export { prepareRestored } from './prepare-restored.ts';
