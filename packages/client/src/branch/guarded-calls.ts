import { RockpoolError } from '@rockpool/shared';
import type { Client } from '../client.ts';
import type { LiveQuery, LiveState } from '../interface/live-query.ts';
import { callListener } from '../tab/listeners.ts';

/** How a branch ended. */
export type EndOfBranch = 'merge' | 'discard';

/**
 * Returns the client's members. Their calls fail with `branch-ended` once the branch has ended. `live` returns a query
 * with that error instead: it is called while a page renders, where a throw would unmount the page.
 */
export function guardedCalls(client: Client, ended: () => EndOfBranch | null, branch: string): Client {
  const guarded = Object.entries(client).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    return [
      name,
      (...given: unknown[]): unknown => {
        const by = ended();
        const call = (): unknown => (member as (...params: unknown[]) => unknown)(...given);
        if (by === null) return call();
        const error = new RockpoolError('branch-ended', { branch, by });
        if (name === 'live') return failedQuery(call() as LiveQuery<unknown>, error);
        if (name === 'stream') throw error;
        return rejectedWrite(error);
      },
    ];
  });
  return Object.fromEntries(guarded) as Client;
}

/** The failed query of each query, because equal statements share one, and a view calls `live` on every render. */
const failedQueries = new WeakMap<LiveQuery<unknown>, LiveQuery<unknown>>();

function failedQuery(query: LiveQuery<unknown>, error: RockpoolError): LiveQuery<unknown> {
  const known = failedQueries.get(query);
  if (known !== undefined) return known;
  const state: LiveState<unknown> = Object.freeze({ rows: query.current.rows, error, loading: false });
  const failed: LiveQuery<unknown> = {
    current: state,
    subscribe: (listener, { signal } = {}) => {
      if (signal?.aborted !== true) callListener(listener, state);
      return () => undefined;
    },
    async *[Symbol.asyncIterator]() {
      yield state;
    },
  };
  failedQueries.set(query, failed);
  return failed;
}

/** Returns a rejected write, also for calls that return a plain promise. */
function rejectedWrite(error: RockpoolError): Promise<never> & { readonly synced: Promise<never> } {
  const synced = Promise.reject<never>(error);
  synced.catch(() => undefined); // Few apps use `synced`, so its rejection must not be reported as unhandled.
  return Object.assign(Promise.reject<never>(error), { synced });
}
