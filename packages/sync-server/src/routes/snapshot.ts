import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { readByteRange } from './byte-range.ts';
import type { Route } from './route.ts';

/**
 * Sends the full state of a database as a compressed SQLite file, for a first sync or a full resync. `?schema=` is the
 * hash of the client's schema. Responds with 204 if the database is small, because a delivery is faster. Responds with
 * 202 if the file is still being built after `?waitMs=`; without `waitMs` the request waits for the file. An
 * interrupted download resumes with `Range` and `If-Range`; if the snapshot has changed since, the whole file is sent.
 */
export const snapshot: Route = {
  method: 'GET',
  path: '/databases/:databaseId/snapshot',
  access: 'read',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    const schemaHash = searchParams.get('schema') ?? '';
    const found = await waitFor(services.snapshot(databaseId, schemaHash, principal), searchParams.get('waitMs'));
    if (found === 'building') return new Response(null, { status: 202, headers: { 'cache-control': 'no-store' } });
    if (found === null) return new Response(null, { status: 204 });
    const { path, logEpoch, watermark, sizeBytes, compressedBytes, sha256 } = found;
    const etag = `"${sha256}"`;
    const ifRange = request.headers.get('if-range');
    const range =
      ifRange === null || ifRange === etag ? readByteRange(request.headers.get('range'), compressedBytes) : null;
    const headers = {
      // Not a content encoding, because a browser cannot decompress a part of a file.
      'content-type': 'application/vnd.rockpool.snapshot+gzip',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      etag,
      'rockpool-epoch': logEpoch,
      'rockpool-watermark': String(watermark),
      'rockpool-size': String(sizeBytes),
      'rockpool-sha256': sha256,
    };
    if (range === 'beyond')
      return new Response(null, {
        status: 416,
        headers: { ...headers, 'content-range': `bytes */${compressedBytes}` },
      });
    const { start, end } = range ?? { start: 0, end: compressedBytes };
    const body = Readable.toWeb(createReadStream(path, { start, end: end - 1 })) as ReadableStream<Uint8Array>;
    return new Response(body, {
      status: range === null ? 200 : 206,
      headers: {
        ...headers,
        'content-length': String(end - start),
        ...(range !== null && { 'content-range': `bytes ${start}-${end - 1}/${compressedBytes}` }),
      },
    });
  },
};

/** Upper limit of `waitMs`, because proxies cut longer requests. */
const MAX_WAIT_MS = 60_000;

/** Waits for the build up to `waitMs`. The build continues in any case, and a later request finds the file. */
async function waitFor<T>(building: Promise<T>, waitMs: string | null): Promise<T | 'building'> {
  if (waitMs === null || !/^\d{1,9}$/.test(waitMs)) return building;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<'building'>((resolve) => {
    timer = setTimeout(() => resolve('building'), Math.min(MAX_WAIT_MS, Number(waitMs)));
  });
  try {
    return await Promise.race([building, passed]);
  } finally {
    clearTimeout(timer);
    // A later request reports the failure.
    building.catch(() => undefined);
  }
}

/** Response headers that pages of other origins may read. */
export const SNAPSHOT_HEADERS: readonly string[] = [
  'rockpool-close',
  'content-range',
  'etag',
  'rockpool-epoch',
  'rockpool-watermark',
  'rockpool-size',
  'rockpool-sha256',
  'rockpool-received',
];
