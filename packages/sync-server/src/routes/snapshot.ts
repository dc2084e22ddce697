import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { RockpoolError } from '@rockpool/shared';
import { readByteRange } from './byte-range.ts';
import type { Route } from './route.ts';

/**
 * The whole state of a database as a compressed SQLite file, for a device that has nothing yet: `?schema=` is the hash
 * of its schema. 204 where the database is small and comes faster as a delivery. 202 where the file is still being
 * built after `?waitMs=` (a client that does not say so waits for it). A download that was cut goes on with `Range` and
 * `If-Range`; where the snapshot is another by then, all of it comes.
 */
export const snapshot: Route = {
  method: 'GET',
  path: '/databases/:databaseId/snapshot',
  access: 'read',
  answer: async ({ services, databaseId, principal, request }) => {
    if (new URL(request.url).searchParams.get('schema') !== services.schemaHash)
      throw new RockpoolError('schema-mismatch');
    const found = await inTime(
      services.snapshot(databaseId, principal),
      new URL(request.url).searchParams.get('waitMs'),
    );
    if (found === 'being built') return new Response(null, { status: 202, headers: { 'cache-control': 'no-store' } });
    if (found === null) return new Response(null, { status: 204 });
    const { path, logEpoch, watermark, sizeBytes, compressedBytes, sha256 } = found;
    const etag = `"${sha256}"`;
    const ifRange = request.headers.get('if-range');
    const range =
      ifRange === null || ifRange === etag ? readByteRange(request.headers.get('range'), compressedBytes) : null;
    const headers = {
      // Not a content encoding: a part of a file could not be unpacked by the browser.
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

/** Longer is a client that waits for the file: proxies cut it sooner or later. */
const MAX_WAIT_MS = 60_000;

/** The build goes on in any case, and whoever asks again finds it. */
async function inTime<T>(building: Promise<T>, waitMs: string | null): Promise<T | 'being built'> {
  if (waitMs === null || !/^\d{1,9}$/.test(waitMs)) return building;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<'being built'>((resolve) => {
    timer = setTimeout(() => resolve('being built'), Math.min(MAX_WAIT_MS, Number(waitMs)));
  });
  try {
    return await Promise.race([building, passed]);
  } finally {
    clearTimeout(timer);
    // Its failure is told to who asks again.
    building.catch(() => undefined);
  }
}

/** What a page of another origin may read of the answer. */
export const SNAPSHOT_HEADERS: readonly string[] = [
  'rockpool-close',
  'content-range',
  'etag',
  'rockpool-epoch',
  'rockpool-watermark',
  'rockpool-size',
  'rockpool-sha256',
];
