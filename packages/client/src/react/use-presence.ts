import { useCallback, useEffect, useSyncExternalStore } from 'react';
import type { Peer } from '../client.ts';
import { useMaybeClient } from './client-context.ts';

const NOBODY: readonly never[] = Object.freeze([]);

/**
 * The others who are here; the component draws again when that changes. `state`: what this tab shows of itself while
 * the component is there, which may be written in place; without one it only looks. A tab shows one state: give it in
 * one place of the app.
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
