import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export interface BuildEncoding {
  /** A value of `content-encoding`. */
  readonly name: 'br' | 'gzip';
  /** The extension of the compressed file beside the original. */
  readonly suffix: '.br' | '.gz';
}

/** The encodings of a build's files, the smallest first. */
export const encodingsOfBuild: readonly BuildEncoding[] = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
];

/** Smaller files fit into the first packets with or without compression. */
const leastBytes = 1_024;

/**
 * Compresses the files of a build that have a content hash in their names, so that the server does not compress files
 * while it serves them, and no compressed file can be older than its original.
 *
 * @param brotliQuality 0 to 11. The default takes 40 times as long as 5, for files that are a tenth smaller.
 */
export function compressBuild(distFolder: string, brotliQuality: number = constants.BROTLI_MAX_QUALITY): void {
  for (const file of globSync(`${distFolder}/assets/*.{js,css,wasm,svg}`)) {
    if (statSync(file).size < leastBytes) continue;
    const bytes = readFileSync(file);
    const params = {
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wished = process.env['BROTLI_QUALITY'];
  compressBuild(fileURLToPath(new URL('../dist', import.meta.url)), ...(wished === undefined ? [] : [Number(wished)]));
}
