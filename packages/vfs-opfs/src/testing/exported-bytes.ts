import { exportFile } from '../files/export-file.ts';
import type { Medium } from '../media/medium.ts';

/** A whole exported file in memory. */
export async function exportedBytes(name: string, medium: Medium): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = (await exportFile(name, medium)).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value as Uint8Array<ArrayBuffer>);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
