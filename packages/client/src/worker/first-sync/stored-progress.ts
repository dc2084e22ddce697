/**
 * A file that came is still to be unpacked and stored, which on a slow device takes longer than the patience with a
 * silent server: so much of it counts as progress.
 */
const STORED_AT_ONCE_BYTES = 1024 * 1024;

/** Passes a stream on, and tells of each so many bytes of it. */
export function reportStored(report: () => void): TransformStream<Uint8Array, Uint8Array> {
  let untoldBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      untoldBytes += chunk.length;
      if (untoldBytes >= STORED_AT_ONCE_BYTES) {
        untoldBytes = 0;
        report();
      }
      controller.enqueue(chunk);
    },
  });
}
