import type { OpenedRole } from '../opened-role.ts';
import type { ByteSource } from './byte-source.ts';

/** The latest commit, as of now. Closing the source closes the reader. */
export function snapshotSource({ store, close }: OpenedRole): ByteSource {
  store.beginRead();
  return {
    sizeBytes: store.sizeBytes(),
    read: (into, at) => {
      store.read(into, 0, into.length, at);
    },
    close,
  };
}
