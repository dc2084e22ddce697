import type { Peer } from '@rockpool/client';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { useMaybeClient } from './client-context.ts';

const NOBODY: readonly never[] = Object.freeze([]);

/**
 * Returns the other tabs that are present, and renders again when they change. `state` is shown to them while the
 * component is mounted; an object literal is fine. Without `state`, the component only observes. A tab shows one state,
 * so pass `state` in one place of the app.
 */
export function usePresence<State = unknown>(state?: State): readonly Peer<State>[] {
  const client = useMaybeClient();
  const stateJson = JSON.stringify(state) as string | undefined;
  useEffect(() => {
    if (client === null || stateJson === undefined) return undefined;
    client.presence.set(JSON.parse(stateJson));
    return undefined;
  }, [client, stateJson]);
  const isShown = stateJson !== undefined;
  useEffect(() => (client === null || !isShown ? undefined : () => client.presence.set(null)), [client, isShown]);
  const subscribe = useCallback(
    (listener: () => void) => client?.presence.subscribe(listener) ?? (() => undefined),
    [client],
  );
  return useSyncExternalStore(
    subscribe,
    () => (client?.presence.current ?? NOBODY) as readonly Peer<State>[],
    () => NOBODY,
  );
}
