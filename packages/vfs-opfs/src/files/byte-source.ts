import type { OpenedStore } from '../opened-store.ts';

/** Random access to bytes that do not change. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Fills `into` from `at` on; the caller stays within `sizeBytes`. */
  read(into: Uint8Array, at: number): void;
  close(): Promise<void>;
}

/** Above a megabyte, fewer calls save no more time. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Streams the bytes in chunks of a megabyte, each read on demand. Closes the source at the end, on failure and on
 * cancelling.
 */
export function streamOf(source: ByteSource): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = new Uint8Array(Math.min(CHUNK_BYTES, source.sizeBytes - at));
        try {
          if (chunk.length > 0) source.read(chunk, at);
        } catch (error) {
          await source.close();
          throw error;
        }
        at += chunk.length;
        if (chunk.length > 0) controller.enqueue(chunk);
        if (at < source.sizeBytes) return;
        controller.close();
        await source.close();
      },
      cancel: () => source.close(),
    },
    // Reads nothing before the consumer asks for data.
    { highWaterMark: 0 },
  );
}

/** Reads the latest commit. Closing the source closes the reader; so does a failure to begin. */
export async function snapshotSource({ store, close }: Pick<OpenedStore, 'store' | 'close'>): Promise<ByteSource> {
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
