import { useCallback, useSyncExternalStore } from 'react';
import type { SyncStatus } from '@rockpool/client';
import { INITIAL_STATUS } from '../rpc/sync-status.ts';
import { useMaybeClient } from './client-context.ts';

/** The status on a server, and while the provider has no client. */
const OPENING: SyncStatus = Object.freeze({ ...INITIAL_STATUS, role: 'none' });

/** Returns the status of sync and renders again when it changes. */
export function useSyncStatus(): SyncStatus {
  const client = useMaybeClient();
  const subscribe = useCallback(
    (listener: () => void) => client?.status.subscribe(listener) ?? (() => undefined),
    [client],
  );
  return useSyncExternalStore(
    subscribe,
    () => client?.status.current ?? OPENING,
    () => OPENING,
  );
}
