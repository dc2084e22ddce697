import type { RockpoolError } from '@rockpool/shared';
import type { Subscribable } from './subscribable.ts';

/** The state of a live query. An error is a value, because a later commit may make the query work again. */
export interface LiveState<Row> {
  /**
   * The last known rows, also while `error` is set. Unchanged rows keep their object identity.
   */
  readonly rows: readonly Row[];
  readonly error: RockpoolError | null;
  /** True until the first result or error. */
  readonly loading: boolean;
}

export interface LiveQuery<Row> extends Subscribable<LiveState<Row>> {
  /**
   * Calls the listener at once if a result is known, and after every change, until the returned function is called or
   * the signal aborts.
   */
  subscribe(listener: (state: LiveState<Row>) => void, options?: { readonly signal?: AbortSignal }): () => void;
  /**
   * Iterates over the states, starting with the current one. A slow loop skips to the newest state. Ends when the loop
   * exits or the client closes.
   *
   * ```ts
   * for await (const { rows } of client.live<Todo>(sql`SELECT * FROM todo`)) draw(rows);
   * ```
   */
  [Symbol.asyncIterator](): AsyncGenerator<LiveState<Row>, void, void>;
}
