/**
 * Unpacking and storing a file may take longer on a slow device than the timeout for a silent server, so each part of
 * this size counts as progress.
 */
const STORED_AT_ONCE_BYTES = 1024 * 1024;

/** Passes a stream through and calls `report` after each STORED_AT_ONCE_BYTES. */
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
