import { bytesToHex, RockpoolError, type ErrorFields } from '@rockpool/shared';
import { emptyPartial, type PartialDownload } from './partial-download.ts';
import {
  BUILD_TIMEOUT_MS,
  FIRST_BYTE_TIMEOUT_MS,
  NEXT_BYTES_TIMEOUT_MS,
  SNAPSHOT_TOKEN_TTL_MS,
} from '../sync/snapshot-wait.ts';
import type { SnapshotEvents } from '../sync/snapshot-taking.ts';

export interface DownloadOptions extends SnapshotEvents {
  /** The server's socket address: `wss://example.org/sync`. */
  readonly url: string;
  readonly databaseId: string;
  readonly schemaHash: string;
  readonly token: () => Promise<string>;
  readonly timeouts?: DownloadTimeouts;
  readonly fetch?: (address: string, init: RequestInit) => Promise<Response>;
  /**
   * The bytes that earlier calls have received. This call adds to them, so that the next one can continue after a
   * failure. Default: nothing.
   */
  readonly partial?: PartialDownload;
  /** Aborts the download, as if the connection were cut permanently. */
  readonly signal?: AbortSignal;
}

/** The limit of each wait, in ms. The defaults are in snapshot-wait.ts. */
export interface DownloadTimeouts {
  readonly tokenMs?: number;
  /** From the request to the first byte of the response, and from its headers to the first byte of its body. */
  readonly firstByteMs?: number;
  /** The total wait while the server reports that it is building the file. */
  readonly builtMs?: number;
  /** Between parts of the body; browsers have no limit of their own. */
  readonly nextBytesMs?: number;
}

/** The snapshot as sent, compressed. */
export interface DownloadedSnapshot {
  readonly compressed: Blob;
  /** Uncompressed size in bytes. */
  readonly sizeBytes: number;
}

/** A download that is cut continues at the same position. It is given up after this many cuts without progress. */
const MAX_CUTS = 5;

/** A server that is still building the file reports that within this time. */
const ANSWER_BUILDING_MS = 2_000;

/** The interval between requests while the file is being built, even if the server answers quickly. */
const ASK_AGAIN_MS = 1_000;

/**
 * Downloads the server's snapshot, compressed, and checks its hash. Returns null when the server offers none because
 * the database is small. Throws
 * - `network-unreachable` when the connection fails or is cut; the next call with the same `partial` continues
 * - `snapshot-unavailable` when the server does not answer in time, rejects the request, or sends something else
 * - the errors of `token`
 */
export async function downloadSnapshot(options: DownloadOptions): Promise<DownloadedSnapshot | null> {
  const partial: PartialDownload = options.partial ?? emptyPartial();
  // A server that starts over each time and never finishes makes no progress.
  let furthestBytes = partial.receivedBytes;
  for (let cuts = 0; cuts < MAX_CUTS && options.signal?.aborted !== true; cuts++) {
    const response = await requestUntilBuilt(options, partial);
    if (response === null) return null;
    if (response === 'cut') continue;
    if (response.status !== 206) Object.assign(partial, emptyPartial());
    partial.etag = response.headers.get('etag') ?? '';
    const isWhole = await receiveBody(options, response, partial);
    if (!isWhole) {
      if (partial.receivedBytes > furthestBytes) cuts = 0;
      furthestBytes = Math.max(furthestBytes, partial.receivedBytes);
      continue;
    }
    const whole = new Blob(partial.parts);
    // Cleared even if the hash is wrong, because such a download cannot be continued.
    Object.assign(partial, emptyPartial());
    return {
      compressed: await requireHash(whole, response.headers.get('rockpool-sha256')),
      sizeBytes: Number(response.headers.get('rockpool-size')),
    };
  }
  throw downloadCut(partial);
}

function downloadCut({ receivedBytes }: PartialDownload): RockpoolError {
  return new RockpoolError('network-unreachable', {
    stage: receivedBytes === 0 ? 'snapshot-answer' : 'snapshot-download',
    receivedBytes,
  });
}

function unavailable(
  stage: 'snapshot-answer' | 'snapshot-build' | 'snapshot-download',
  fields: ErrorFields,
): RockpoolError {
  return new RockpoolError('snapshot-unavailable', { stage, ...fields });
}

/**
 * Returns the response with the file or the rest of it; null if there is none; `cut` if the connection failed after
 * some bytes had arrived.
 */
async function requestUntilBuilt(options: DownloadOptions, partial: PartialDownload): Promise<Response | 'cut' | null> {
  const builtMs = options.timeouts?.builtMs ?? BUILD_TIMEOUT_MS;
  const startedMs = performance.now();
  const remainingMs = (): number => builtMs - (performance.now() - startedMs);
  for (;;) {
    const askedMs = performance.now();
    const response = await requestSnapshot(options, partial);
    if (response === 'cut' || response.status === 200 || response.status === 206)
      return response === 'cut' ? response : requireSnapshot(response);
    await response.body?.cancel();
    if (response.status === 204) return null;
    if (response.status !== 202) {
      Object.assign(partial, emptyPartial());
      throw unavailable('snapshot-answer', { status: response.status });
    }
    if (remainingMs() <= 0) throw unavailable('snapshot-build', { waitedMs: builtMs });
    options.onWait({ stage: 'snapshot-build', withinMs: Math.ceil(remainingMs()) });
    await delay(Math.min(remainingMs(), ASK_AGAIN_MS - (performance.now() - askedMs)), options.signal);
  }
}

async function requestSnapshot(options: DownloadOptions, partial: PartialDownload): Promise<Response | 'cut'> {
  const { url, databaseId, schemaHash, signal, timeouts = {}, fetch: get = fetch } = options;
  if (signal?.aborted === true) throw downloadCut(partial);
  const tokenMs = timeouts.tokenMs ?? SNAPSHOT_TOKEN_TTL_MS;
  options.onWait({ stage: 'token', withinMs: tokenMs });
  const token = await within(
    options.token(),
    tokenMs,
    () => new RockpoolError('network-unreachable', { stage: 'token', waitedMs: tokenMs }),
    // The page of a leader that steps down may be suspended, and the next leader waits for the end of the download.
    signal,
  );

  const firstByteMs = timeouts.firstByteMs ?? FIRST_BYTE_TIMEOUT_MS;
  options.onWait({
    stage: partial.receivedBytes === 0 ? 'snapshot-answer' : 'snapshot-download',
    withinMs: firstByteMs,
  });
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), firstByteMs);
  const address = `${url.replace(/^ws/, 'http')}/databases/${encodeURIComponent(databaseId)}/snapshot?schema=${schemaHash}&waitMs=${Math.min(ANSWER_BUILDING_MS, Math.floor(firstByteMs / 2))}`;
  const range = partial.etag === '' ? {} : { range: `bytes=${partial.receivedBytes}-`, 'if-range': partial.etag };
  try {
    return await get(address, {
      headers: { ...range, authorization: `Bearer ${token}` },
      signal: signal === undefined ? overdue.signal : AbortSignal.any([signal, overdue.signal]),
      cache: 'no-store',
    });
  } catch {
    // If some bytes had arrived, the network may have failed. A new connection will show whether it has.
    if (partial.etag === '')
      throw overdue.signal.aborted ? unavailable('snapshot-answer', { waitedMs: firstByteMs }) : downloadCut(partial);
    if (overdue.signal.aborted) throw downloadCut(partial);
    return 'cut';
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects, without reading it, a response that a portal or proxy sent instead of the server. */
async function requireSnapshot(response: Response): Promise<Response> {
  if (response.headers.get('rockpool-sha256') !== null) return response;
  await response.body?.cancel();
  throw unavailable('snapshot-answer', { problem: 'the response is not a snapshot', status: response.status });
}

/** Returns whether the body was complete. */
async function receiveBody(options: DownloadOptions, response: Response, partial: PartialDownload): Promise<boolean> {
  const { firstByteMs = FIRST_BYTE_TIMEOUT_MS, nextBytesMs = NEXT_BYTES_TIMEOUT_MS } = options.timeouts ?? {};
  const before = partial.receivedBytes;
  const totalBytes = before + Number(response.headers.get('content-length'));
  const reader = response.body?.getReader();
  let withinMs = firstByteMs;
  try {
    for (;;) {
      options.onWait({ stage: 'snapshot-download', withinMs });
      const waitedMs = withinMs;
      const chunk = await within(reader?.read() ?? NOTHING, withinMs, () =>
        unavailable('snapshot-download', { waitedMs }),
      );
      if (chunk.done) return true;
      partial.parts.push(chunk.value);
      partial.receivedBytes += chunk.value.length;
      withinMs = nextBytesMs;
      options.onProgress({ receivedBytes: partial.receivedBytes, totalBytes });
    }
  } catch (thrown) {
    void reader?.cancel().catch(() => undefined);
    // Only the end of the stream is missing: there are no more bytes to request. The hash shows whether the bytes are
    // right.
    if (partial.receivedBytes > before && partial.receivedBytes === totalBytes) return true;
    if (partial.receivedBytes > before || !(thrown instanceof RockpoolError)) return false;
    throw before === 0 ? thrown : downloadCut(partial);
  }
}

const NOTHING = Promise.resolve({ done: true, value: undefined } as const);

/** Rejects with `overdue` after `withinMs`, or at once when the signal aborts. It must not have aborted before. */
async function within<T>(
  work: Promise<T>,
  withinMs: number,
  overdue: () => RockpoolError,
  signal?: AbortSignal,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(overdue()), withinMs);
    signal?.addEventListener('abort', () => reject(overdue()), { once: true });
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `delayMs`, or at once when the signal aborts or has aborted. */
function delay(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, signal?.aborted === true ? 0 : Math.max(0, delayMs));
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

async function requireHash(blob: Blob, expected: string | null): Promise<Blob> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  const hash = bytesToHex(digest);
  if (hash !== expected)
    throw unavailable('snapshot-download', {
      problem: 'the downloaded file does not match the hash that the server sent',
    });
  return blob;
}
