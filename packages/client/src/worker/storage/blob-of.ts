/**
 * A stream as one Blob; rejects with what the stream failed with. Each chunk is handed to the browser at once, so that
 * a large file need not be in this worker's memory.
 */
export async function blobOf(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  const parts: Blob[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    parts.push(new Blob([next.value as Uint8Array<ArrayBuffer>]));
  return new Blob(parts);
}
