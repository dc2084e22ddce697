import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { deadlineOf } from './deadline.ts';

/** A server answers most requests in milliseconds. A network that takes longer than this counts as absent. */
const ANSWER_WITHIN_MS = 15_000;

/**
 * The limit for `/history/written`, for which the server reads every version since the first of the transactions, and
 * serves other requests in between.
 */
const WRITTEN_WITHIN_MS = 2 * 60_000;

/** See WorkerApi.request. `closed` aborts when the client closes. */
export async function requestBytes(
  server: {
    readonly url: string;
    readonly databaseId: string;
    readonly fetch?: ((address: string, init: RequestInit) => Promise<Response>) | undefined;
  },
  path: string,
  token: string,
  closed: AbortSignal,
): Promise<Uint8Array> {
  const { url, databaseId, fetch: get = fetch } = server;
  const deadline = deadlineOf(path.startsWith('/history/written') ? WRITTEN_WITHIN_MS : ANSWER_WITHIN_MS, closed);
  const address = `${url.replace(/^ws/, 'http')}/databases/${encodeURIComponent(databaseId)}${path}`;
  try {
    const response = await get(address, {
      headers: { authorization: `Bearer ${token}` },
      signal: deadline.signal,
      cache: 'no-store',
    });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    const error = (await response.json().catch(() => null)) as ErrorData | null;
    throw typeof error?.code === 'string'
      ? RockpoolError.fromData(error)
      : new RockpoolError('network-unreachable', { stage: 'answer', status: response.status });
  } catch (thrown) {
    if (closed.aborted) throw new RockpoolError('client-closed');
    if (thrown instanceof RockpoolError) throw thrown;
    throw new RockpoolError('network-unreachable', { stage: 'answer' }, { cause: thrown });
  } finally {
    deadline.clear();
  }
}
