import { downloadSnapshot, nothingYet, type DownloadOptions } from './download-snapshot.ts';
import type { DownloadContent } from './snapshot-source.ts';

/** The server may have to build the file first: some 15 s for a million rows. */
const ANSWER_WITHIN_MS = 25_000;

/** Downloads by HTTP. Each attempt goes on where the one before it was cut; where there is nothing to go on with, such as after damage, there is no file to be had. */
export function downloadContent(options: Pick<DownloadOptions, 'url' | 'databaseId' | 'schemaHash' | 'token' | 'fetch'>): DownloadContent {
  const partial = nothingYet();
  return async (onProgress, signal) => {
    const downloaded = await downloadSnapshot({ ...options, answerWithinMs: ANSWER_WITHIN_MS, partial, signal, onProgress }).catch((thrown: unknown) => {
      if (partial.receivedBytes === 0) return null;
      throw thrown;
    });
    if (downloaded === null) return null;
    const { compressed, sizeBytes } = downloaded;
    return { source: compressed.stream().pipeThrough(new DecompressionStream('gzip'), { signal }), sizeBytes };
  };
}
