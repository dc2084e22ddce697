import type { OpenedRole } from '../opened-role.ts';
import type { ByteSource } from './byte-source.ts';

/** The latest commit, as of now. Closing the source closes the reader, and so does a failure to begin. */
export async function snapshotSource({ store, close }: Pick<OpenedRole, 'store' | 'close'>): Promise<ByteSource> {
  try {
    store.beginRead();
    const sizeBytes = store.sizeBytes();
    const read = (into: Uint8Array, at: number): void => void store.read(into, 0, into.length, at);
    return { sizeBytes, read, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
