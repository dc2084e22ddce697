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

/**
 * How long queries keep running after their first results, if no other query of the client waits for its own. Rendering
 * takes less.
 */
const HELD_MS = 1000;

/** The queries of one client whose components may not be mounted yet. */
interface Held {
  readonly waiting: Map<LiveQuery<never>, Promise<void>>;
  readonly stops: Set<() => void>;
}

/** React discards a component that suspends before its first mount, so the promise is kept outside of it. */
const heldByClient = new WeakMap<Client, Held>();

/**
 * Resolves with the first result. React mounts the components below a `<Suspense>` together, so a query runs until the
 * first results of all others are known: otherwise slow queries could end each other in turn, and the fallback would
 * stay.
 */
function firstResult<Row>(client: Client, live: LiveQuery<Row>): Promise<void> {
  const held = heldByClient.get(client) ?? { waiting: new Map(), stops: new Set() };
  heldByClient.set(client, held);
  const { waiting, stops } = held;
  const key = live as LiveQuery<never>;
  const known = waiting.get(key);
  if (known !== undefined) return known;
  const first = Promise.withResolvers<void>();
  waiting.set(key, first.promise);
  const release = (): void => {
    if (waiting.size > 0) return; // The last one releases all.
    for (const stop of stops) stop();
    stops.clear();
  };
  stops.add(
    live.subscribe(() => {
      if (!waiting.delete(key)) return;
      first.resolve();
      setTimeout(release, HELD_MS);
    }),
  );
  return first.promise;
}
