import { RockpoolError } from '@rockpool/shared';

/** How far a first sync is, in bytes as they travel. */
export interface FirstSyncProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface DownloadOptions {
  /** Of the server's sockets: `wss://example.org/sync`. */
  readonly url: string;
  readonly databaseId: string;
  readonly schemaHash: string;
  readonly token: () => Promise<string>;
  readonly onProgress: (progress: FirstSyncProgress) => void;
  /** The server has this long to begin its answer. */
  readonly answerWithinMs: number;
  readonly fetch?: typeof fetch;
}

/** A download that is cut goes on where it was; one that is cut this often without getting further is given up. */
const MAX_CUTS = 5;

/**
 * The server's snapshot as it travels, compressed, and checked against its hash. Null where there is none, or no server to ask: then the stream brings
 * everything. Throws `network-unreachable` when it does not come to its end.
 */
export async function downloadSnapshot(options: DownloadOptions): Promise<Blob | null> {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let receivedBytes = 0;
  let etag = '';
  for (let cuts = 0; cuts < MAX_CUTS; cuts++) {
    const response = await ask(options, etag === '' ? {} : { range: `bytes=${receivedBytes}-`, 'if-range': etag });
    if (response === null && etag === '') return null;
    if (response === null) continue;
    if (response.status !== 206) {
      parts = [];
      receivedBytes = 0;
    }
    etag = response.headers.get('etag') ?? '';
    const totalBytes = receivedBytes + Number(response.headers.get('content-length'));
    const before = receivedBytes;
    try {
      for await (const chunk of chunksOf(response)) {
        parts.push(chunk);
        receivedBytes += chunk.length;
        options.onProgress({ receivedBytes, totalBytes });
      }
    } catch {
      if (receivedBytes > before) cuts = 0;
      continue;
    }
    return requireHash(new Blob(parts), response.headers.get('rockpool-sha256'));
  }
  throw new RockpoolError('network-unreachable', { stage: 'snapshot', receivedBytes });
}

/** Null: not now, or not here. What the server has against us it also says on the stream, where the status tells it by name. */
async function ask({ url, databaseId, schemaHash, token, answerWithinMs, fetch: get = fetch }: DownloadOptions, headers: Record<string, string>): Promise<Response | null> {
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), answerWithinMs);
  try {
    const address = `${url.replace(/^ws/, 'http')}/databases/${encodeURIComponent(databaseId)}/snapshot?schema=${schemaHash}`;
    const credentials = await Promise.race([token(), new Promise<never>((_, reject) => overdue.signal.addEventListener('abort', () => reject(overdue.signal.reason as Error)))]);
    const response = await get(address, { headers: { ...headers, authorization: `Bearer ${credentials}` }, signal: overdue.signal, cache: 'no-store' });
    if (response.status === 200 || response.status === 206) return response;
    await response.body?.cancel();
    return null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Streams are iterable themselves, but not yet in every browser. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function requireHash(blob: Blob, expected: string | null): Promise<Blob> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  const hash = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hash !== expected) throw new RockpoolError('network-unreachable', { stage: 'snapshot', problem: 'the hash differs' });
  return blob;
}
