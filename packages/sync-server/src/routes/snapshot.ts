import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { RockpoolError } from '@rockpool/shared';
import { readByteRange } from './byte-range.ts';
import type { Route } from './route.ts';

/**
 * The whole state of a database as a compressed SQLite file, for a device that has nothing yet: `?schema=` is the hash of its schema. 204 where the database is
 * small and comes faster as a delivery. A download that was cut goes on with `Range` and `If-Range`; where the snapshot is another by then, all of it comes.
 */
export const snapshot: Route = {
  method: 'GET',
  path: '/databases/:databaseId/snapshot',
  access: 'read',
  answer: async ({ services, databaseId, request }) => {
    if (new URL(request.url).searchParams.get('schema') !== services.schemaHash) throw new RockpoolError('schema-mismatch');
    const found = await services.snapshot(databaseId);
    if (found === null) return new Response(null, { status: 204 });
    const { path, epoch, watermark, sizeBytes, compressedBytes, sha256 } = found;
    const etag = `"${sha256}"`;
    const ifRange = request.headers.get('if-range');
    const range = ifRange === null || ifRange === etag ? readByteRange(request.headers.get('range'), compressedBytes) : null;
    const headers = {
      // Not a content encoding: a part of a file could not be unpacked by the browser.
      'content-type': 'application/vnd.rockpool.snapshot+gzip',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      etag,
      'rockpool-epoch': epoch,
      'rockpool-watermark': String(watermark),
      'rockpool-size': String(sizeBytes),
      'rockpool-sha256': sha256,
    };
    if (range === 'beyond') return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${compressedBytes}` } });
    const { start, end } = range ?? { start: 0, end: compressedBytes };
    const body = Readable.toWeb(createReadStream(path, { start, end: end - 1 })) as ReadableStream<Uint8Array>;
    return new Response(body, {
      status: range === null ? 200 : 206,
      headers: { ...headers, 'content-length': String(end - start), ...(range !== null && { 'content-range': `bytes ${start}-${end - 1}/${compressedBytes}` }) },
    });
  },
};

/** What a page of another origin may read of the answer. */
export const SNAPSHOT_HEADERS: readonly string[] = ['rockpool-close', 'content-range', 'etag', 'rockpool-epoch', 'rockpool-watermark', 'rockpool-size', 'rockpool-sha256'];
