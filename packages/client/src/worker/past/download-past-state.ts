import { bytesToHex, RockpoolError, type ErrorData } from '@rockpool/shared';
import type { PastFacts } from '../../rpc/past-state.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import { deadlineOf } from '../sync/deadline.ts';

/** The server builds the file before it answers, which takes about a second for 100,000 rows. */
const ANSWER_WITHIN_MS = 5 * 60_000;
const NEXT_BYTES_WITHIN_MS = 30_000;

export interface PastServer {
  readonly url: string;
  readonly databaseId: string;
  readonly fetch?: ((address: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** A past state as sent, and its content uncompressed. */
export interface DownloadedPastState {
  readonly facts: Omit<PastFacts, 'laterColumns'>;
  readonly source: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/**
 * Downloads a past state and checks its hash. `closed` aborts when the client closes. Throws the server's error, and
 * `network-unreachable` if the connection fails or is cut, or the response is not a past state.
 */
export async function downloadPastState(
  { url, databaseId, fetch: get = fetch }: PastServer,
  { moment, token, closed }: { readonly moment: string; readonly token: string; readonly closed: AbortSignal },
  onProgress: (progress: SnapshotProgress) => void,
): Promise<DownloadedPastState> {
  const address = `${url.replace(/^ws/, 'http')}/databases/${encodeURIComponent(databaseId)}/past?${moment}`;
  const deadline = deadlineOf(ANSWER_WITHIN_MS, closed);
  try {
    const response = await get(address, {
      headers: { authorization: `Bearer ${token}` },
      signal: deadline.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw await refusalOf(response);
    const header = (name: string): number => Number(response.headers.get(`rockpool-${name}`));
    const totalBytes = Number(response.headers.get('content-length'));
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let receivedBytes = 0;
    const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    for (;;) {
      deadline.renew(NEXT_BYTES_WITHIN_MS);
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      receivedBytes += value.length;
      onProgress({ receivedBytes, totalBytes });
    }
    const whole = new Blob(parts);
    await requireHash(whole, response.headers.get('rockpool-sha256'));
    return {
      facts: { version: header('watermark'), receivedMs: header('received') },
      source: whole.stream().pipeThrough(new DecompressionStream('gzip')),
      sizeBytes: header('size'),
    };
  } catch (thrown) {
    if (closed.aborted) throw new RockpoolError('client-closed');
    if (thrown instanceof RockpoolError) throw thrown;
    throw new RockpoolError('network-unreachable', { stage: 'past-state' }, { cause: thrown });
  } finally {
    deadline.clear();
  }
}

async function refusalOf(response: Response): Promise<RockpoolError> {
  const error = (await response.json().catch(() => null)) as ErrorData | null;
  return typeof error?.code === 'string'
    ? RockpoolError.fromData(error)
    : new RockpoolError('network-unreachable', { stage: 'past-state', status: response.status });
}

async function requireHash(blob: Blob, expected: string | null): Promise<void> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  const hash = bytesToHex(digest);
  if (hash !== expected)
    throw new RockpoolError('network-unreachable', {
      stage: 'past-state',
      problem: 'the downloaded file does not match the hash that the server sent',
    });
}
