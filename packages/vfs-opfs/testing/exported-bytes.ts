/** Reads a whole exported file into memory. */
export async function exportedBytes(file: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = file.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    chunks.push(next.value as Uint8Array<ArrayBuffer>);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
