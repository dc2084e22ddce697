import { useCallback, useSyncExternalStore } from 'react';
import type { SyncStatus } from '../client.ts';
import { useClient } from './client-context.ts';

/** The status of sync; the component draws again when it changes. */
export function useSyncStatus(): SyncStatus {
  const client = useClient();
  const subscribe = useCallback((listener: () => void) => client.onStatus(listener), [client]);
  const read = (): SyncStatus => client.status;
  return useSyncExternalStore(subscribe, read, read);
}
