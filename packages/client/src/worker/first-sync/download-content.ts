import type { DownloadOptions } from './download-snapshot.ts';
import { loadSnapshotCode } from './load-snapshot-code.ts';
import { emptyPartial } from './partial-download.ts';
import type { DownloadContent } from './snapshot-source.ts';

/** Downloads over HTTP. Each attempt continues where the previous one was cut off. */
export function downloadContent(
  options: Pick<DownloadOptions, 'url' | 'databaseId' | 'schemaHash' | 'token' | 'timeouts' | 'fetch'>,
): DownloadContent {
  const partial = emptyPartial();
  return async (events, signal) => {
    const { downloadSnapshot } = await loadSnapshotCode();
    const downloaded = await downloadSnapshot({ ...options, ...events, partial, signal });
    if (downloaded === null) return null;
    const { compressed, sizeBytes } = downloaded;
    return { source: compressed.stream().pipeThrough(new DecompressionStream('gzip'), { signal }), sizeBytes };
  };
}
