/** The path under which the pages load PowerSync's prebuilt worker files. */
export const POWERSYNC_WORKER_PATH = '/powersync/';
