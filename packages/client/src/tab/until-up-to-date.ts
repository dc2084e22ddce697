import { RockpoolError } from '@rockpool/shared';
import type { SyncOptions } from '../interface/client-options.ts';
import type { Subscribable } from '../interface/subscribable.ts';
import type { SyncStatus } from '../rpc/sync-status.ts';

/** The part of a session that this wait uses. */
export interface SyncedSession {
  readonly status: Pick<Subscribable<SyncStatus>, 'subscribe'>;
  call<T>(run: () => Promise<T>): Promise<T>;
  beforeClose(onEnd: () => void): void;
}

/** For each client, the functions that end its waits when it closes. */
const endsBySession = new WeakMap<SyncedSession, Set<() => void>>();

/** See SyncControl.upToDate. */
export async function untilUpToDate(
  session: SyncedSession,
  sync: SyncOptions | undefined,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  signal?.throwIfAborted();
  if (sync === undefined) throw new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
  const reached = Promise.withResolvers<void>();
  const ends = endsBySession.get(session) ?? endsOf(session);
  const onClose = (): void => reached.reject(new RockpoolError('client-closed'));
  const onAbort = (): void => reached.reject(signal?.reason);
  ends.add(onClose);
  signal?.addEventListener('abort', onAbort);
  let isOver = false;
  let stop = (): void => undefined;
  const follow = (): void => {
    if (isOver) return;
    stop = session.status.subscribe(({ state, role, reason }) => {
      if (state === 'up-to-date') reached.resolve();
      else if (role === 'none' && (state === 'outdated' || state === 'blocked') && reason !== null)
        reached.reject(RockpoolError.fromData(reason));
    });
  };
  // Rejects if the client is closed, or its database could not be opened. Waits while a worker is replaced.
  session.call(async () => undefined).then(follow, reached.reject);
  try {
    await reached.promise;
  } finally {
    isOver = true;
    stop();
    ends.delete(onClose);
    signal?.removeEventListener('abort', onAbort);
  }
}

function endsOf(session: SyncedSession): Set<() => void> {
  const ends = new Set<() => void>();
  endsBySession.set(session, ends);
  session.beforeClose(() => {
    for (const end of ends) end();
  });
  return ends;
}
