import { RockpoolError } from '@rockpool/shared';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';

export interface DownloadOptions {
  /** Of the server's sockets: `wss://example.org/sync`. */
  readonly url: string;
  readonly databaseId: string;
  readonly schemaHash: string;
  readonly token: () => Promise<string>;
  readonly onProgress: (progress: SnapshotProgress) => void;
  /** The server has this long to begin its answer. */
  readonly answerWithinMs: number;
  /** A connection that brings nothing for this long is taken for cut: browsers wait for ever. Default: 20 s. */
  readonly silenceLimitMs?: number;
  readonly fetch?: typeof fetch;
  /** What an earlier call has left, and this one leaves where it fails. Default: nothing. */
  readonly partial?: PartialDownload;
  /** Ends the download, as if it were cut for good. */
  readonly signal?: AbortSignal;
}

/** What has come so far of the snapshot with this ETag. */
export interface PartialDownload {
  parts: Uint8Array<ArrayBuffer>[];
  receivedBytes: number;
  etag: string;
}

/** The snapshot as it travels, compressed. */
export interface DownloadedSnapshot {
  readonly compressed: Blob;
  /** Unpacked. */
  readonly sizeBytes: number;
}

/** A download that is cut goes on where it was; one that is cut this often without getting further is given up. */
const MAX_CUTS = 5;

/** Less than the patience of sync (SNAPSHOT_DEADLINE_MS), which would begin with a new connection. */
const SILENCE_LIMIT_MS = 20_000;

/**
 * The server's snapshot as it travels, compressed, and checked against its hash. Null where there is none, or no server to ask: then the stream brings
 * everything. Throws `network-unreachable` when it does not come to its end.
 */
export async function downloadSnapshot(options: DownloadOptions): Promise<DownloadedSnapshot | null> {
  const partial: PartialDownload = options.partial ?? nothingYet();
  for (let cuts = 0; cuts < MAX_CUTS && options.signal?.aborted !== true; cuts++) {
    const response = await ask(options, partial.etag === '' ? {} : { range: `bytes=${partial.receivedBytes}-`, 'if-range': partial.etag });
    if (response === null && partial.etag === '') return null;
    if (response === null) continue;
    if (response.status !== 206) Object.assign(partial, nothingYet());
    partial.etag = response.headers.get('etag') ?? '';
    const totalBytes = partial.receivedBytes + Number(response.headers.get('content-length'));
    const before = partial.receivedBytes;
    try {
      for await (const chunk of chunksOf(response, options.silenceLimitMs ?? SILENCE_LIMIT_MS)) {
        partial.parts.push(chunk);
        partial.receivedBytes += chunk.length;
        options.onProgress({ receivedBytes: partial.receivedBytes, totalBytes });
      }
    } catch {
      if (partial.receivedBytes > before) cuts = 0;
      continue;
    }
    const whole = new Blob(partial.parts);
    // Also where it is not what it should be: nothing of it is worth going on with.
    Object.assign(partial, nothingYet());
    return { compressed: await requireHash(whole, response.headers.get('rockpool-sha256')), sizeBytes: Number(response.headers.get('rockpool-size')) };
  }
  throw new RockpoolError('network-unreachable', { stage: 'snapshot', receivedBytes: partial.receivedBytes });
}

export function nothingYet(): PartialDownload {
  return { parts: [], receivedBytes: 0, etag: '' };
}

/** Null: not now, or not here. What the server has against us it also says on the stream, where the status tells it by name. */
async function ask({ url, databaseId, schemaHash, token, answerWithinMs, signal, fetch: get = fetch }: DownloadOptions, headers: Record<string, string>): Promise<Response | null> {
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), answerWithinMs);
  try {
    const address = `${url.replace(/^ws/, 'http')}/databases/${encodeURIComponent(databaseId)}/snapshot?schema=${schemaHash}`;
    const credentials = await Promise.race([token(), new Promise<never>((_, reject) => overdue.signal.addEventListener('abort', () => reject(overdue.signal.reason as Error)))]);
    const ended = signal === undefined ? overdue.signal : AbortSignal.any([signal, overdue.signal]);
    const response = await get(address, { headers: { ...headers, authorization: `Bearer ${credentials}` }, signal: ended, cache: 'no-store' });
    if (response.status === 200 || response.status === 206) return response;
    await response.body?.cancel();
    return null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Streams are iterable themselves, but not yet in every browser. Throws where nothing comes for too long. */
async function* chunksOf({ body }: Response, silenceLimitMs: number): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('silence')), silenceLimitMs);
    });
    try {
      const { done, value } = await Promise.race([reader.read(), silence]);
      if (done) return;
      yield value;
    } catch (thrown) {
      void reader.cancel().catch(() => undefined);
      throw thrown;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function requireHash(blob: Blob, expected: string | null): Promise<Blob> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  const hash = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hash !== expected) throw new RockpoolError('network-unreachable', { stage: 'snapshot', problem: 'the hash differs' });
  return blob;
}
