import type { ExtentCatalog, LoadedExtents } from './extent-backend.ts';
import { ExtentPages } from './extent-pages.ts';

/** Reads a stream into extents in memory. Throws `storage-full` beyond the budget. */
export async function extentsFrom(content: AsyncIterable<Uint8Array>, budgetBytes: number): Promise<LoadedExtents> {
  const pages = new ExtentPages(budgetBytes);
  let at = 0;
  for await (const chunk of content) {
    pages.write(chunk, 0, chunk.length, at);
    at += chunk.length;
  }
  pages.commit();
  const batch = pages.takeBatch();
  return { ...batch, extents: new Map(batch.extents) };
}

export async function loadWhole(catalog: ExtentCatalog, name: string): Promise<LoadedExtents> {
  const backend = await catalog.open(name, false);
  try {
    return await backend.load();
  } finally {
    backend.close();
  }
}

/** Replaces the stored content in one flushed batch. */
export async function storeWhole(catalog: ExtentCatalog, name: string, loaded: LoadedExtents): Promise<void> {
  const backend = await catalog.open(name, true);
  try {
    await backend.write({ ...loaded, dropsPatches: true, cutFrom: 0 });
  } finally {
    backend.close();
  }
}

/** Gives random access to the bytes of `loaded`; missing extents read as zeros. */
export function pagesOf(loaded: LoadedExtents): ExtentPages {
  const pages = new ExtentPages(Infinity);
  pages.replace(loaded);
  return pages;
}
