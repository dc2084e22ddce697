import type { Client, LiveQuery, LiveState, SqlParam, SqlRow, SqlStatement } from '../client.ts';
import { useClient } from './client-context.ts';
import { useLiveQuery } from './use-live-query.ts';

/**
 * As `useLiveQuery` with a statement, but suspends until there is a first result: `loading` is never true, and the
 * nearest `<Suspense>` shows its fallback. An error is a value here too.
 */
export function useSuspenseLiveQuery<Row extends object = SqlRow>(
  statement: SqlStatement | string,
  params?: readonly SqlParam[],
): LiveState<Row> {
  const client = useClient();
  const state = useLiveQuery<Row>(statement, params);
  if (!state.loading) return state;
  // How React is told to wait.
  throw firstResult(
    client,
    typeof statement === 'string' ? client.live<Row>(statement, params) : client.live<Row>(statement),
  );
}

/**
 * A component that suspends before it was ever shown is thrown away and made anew, so what it waits for is kept apart
 * from it.
 */
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
      // Not within the call that tells it. The query goes on for a moment, until the component has subscribed.
      queueMicrotask(() => unsubscribe());
    });
  });
  waiting.set(key, first);
  return first;
}
