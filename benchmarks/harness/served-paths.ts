/** Where the pages find the files that PowerSync ships built. */
export const POWERSYNC_WORKER_PATH = '/powersync/';
