import type { Client, LiveQuery, LiveState, SqlParam, SqlRow, SqlStatement } from '@rockpool/client';
import { useClient } from './client-context.ts';
import { useLiveQuery } from './use-live-query.ts';

/**
 * Like `useLiveQuery` with a statement, but suspends until the first result: `loading` is never true, and the nearest
 * `<Suspense>` shows its fallback. An error is a value here too.
 */
export function useSuspenseLiveQuery<Row extends object = SqlRow>(
  statement: SqlStatement | string,
  params?: readonly SqlParam[],
): LiveState<Row> {
  const client = useClient();
  const state = useLiveQuery<Row>(statement, params);
  if (!state.loading) return state;
  // A thrown promise makes React wait.
  throw firstResult(
    client,
    typeof statement === 'string' ? client.live<Row>(statement, params) : client.live<Row>(statement),
  );
}

/** React discards a component that suspends before its first mount, so the promise is kept outside of it. */
const waitingByClient = new WeakMap<Client, WeakMap<LiveQuery<never>, Promise<void>>>();

function firstResult<Row>(client: Client, live: LiveQuery<Row>): Promise<void> {
  const waiting = waitingByClient.get(client) ?? new WeakMap<LiveQuery<never>, Promise<void>>();
  waitingByClient.set(client, waiting);
  const key = live as LiveQuery<never>;
  const known = waiting.get(key);
  if (known !== undefined) return known;
  const first = new Promise<void>((resolve) => {
    const unsubscribe = live.subscribe(() => {
      waiting.delete(key);
      resolve();
      // Unsubscribes only after the listener has returned, so that the query runs until the component has subscribed.
      queueMicrotask(() => unsubscribe());
    });
  });
  waiting.set(key, first);
  return first;
}
