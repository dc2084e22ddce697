import type { Schema } from '@rockpool/shared';
import { proxy } from 'comlink';
import type { Client } from './client.ts';
import type { PastMoment, PastOptions, PastState } from './interface/past-state.ts';
import type { ClientSession } from './client-session.ts';
import { openPastState } from './history/past-state.ts';
import { loadPart } from './load-part.ts';
import { newId } from './new-id.ts';
import type { PastAnswer } from './rpc/past-state.ts';
import type { SnapshotProgress } from './rpc/snapshot-progress.ts';

/** See Client.past. */
export async function openPast(
  client: Pick<Client, 'query' | 'transaction'>,
  session: Pick<ClientSession, 'call'>,
  schema: Schema,
  given: PastMoment,
  { onProgress }: PastOptions = {},
): Promise<PastState> {
  const moment = given ?? ({} as PastMoment); // Without one, from plain JavaScript, this throws `request-invalid` below.
  const { callListener, findNamedMoment } = await loadPart('history', () => import('./rare-calls.ts'));
  // In the worker, an exception of the app would look like a failed download.
  const report =
    onProgress === undefined ? null : proxy((progress: SnapshotProgress) => callListener(onProgress, progress));
  return openPastState(
    { newId, ask: (ask) => session.call((worker) => worker.past(ask, report) as Promise<PastAnswer>) },
    'name' in moment ? await findNamedMoment(client, schema, moment) : moment,
  );
}
