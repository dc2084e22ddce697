import { downloadSnapshot, nothingYet, type DownloadOptions } from './download-snapshot.ts';
import type { DownloadContent } from './snapshot-source.ts';

/** Downloads by HTTP. Each attempt goes on where the one before it was cut. */
export function downloadContent(
  options: Pick<DownloadOptions, 'url' | 'databaseId' | 'schemaHash' | 'token' | 'patience' | 'fetch'>,
): DownloadContent {
  const partial = nothingYet();
  return async (events, signal) => {
    const downloaded = await downloadSnapshot({ ...options, ...events, partial, signal });
    if (downloaded === null) return null;
    const { compressed, sizeBytes } = downloaded;
    return { source: compressed.stream().pipeThrough(new DecompressionStream('gzip'), { signal }), sizeBytes };
  };
}
