import { proxy } from 'comlink';
import type { PastState } from './interface/past-state.ts';
import type { ClientSession } from './client-session.ts';
import { openPastState, type KnownMoment } from './history/past-state.ts';
import { newId } from './new-id.ts';
import type { PastAnswer } from './rpc/past-state.ts';
import type { SnapshotProgress } from './rpc/snapshot-progress.ts';

/** See Client.past. */
export function openPast(
  session: Pick<ClientSession, 'call'>,
  moment: KnownMoment,
  onProgress: ((progress: SnapshotProgress) => void) | undefined,
): Promise<PastState> {
  const report = onProgress === undefined ? null : proxy(onProgress);
  return openPastState(
    { newId, ask: (ask) => session.call((worker) => worker.past(ask, report) as Promise<PastAnswer>) },
    moment,
  );
}
