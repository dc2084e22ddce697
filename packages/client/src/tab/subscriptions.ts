import type { LiveQuery, LiveState } from '../interface/live-query.ts';

type Listener<Row> = (state: LiveState<Row>) => void;

/** Subscribes until the returned function is called or the signal aborts. */
export function subscribeUntil<Row>(
  subscribe: (listener: Listener<Row>) => () => void,
  listener: Listener<Row>,
  signal: AbortSignal | undefined,
): () => void {
  if (signal?.aborted) return () => undefined;
  const unsubscribe = subscribe(listener);
  const end = (): void => {
    signal?.removeEventListener('abort', end);
    unsubscribe();
  };
  signal?.addEventListener('abort', end);
  // The listener has been called and may have aborted it, before the event could be heard.
  if (signal?.aborted) end();
  return end;
}

/**
 * Iterates over the states of a live query. A slow consumer receives the newest state and skips those in between.
 * `return` also ends an iteration that waits for the next state, which may never come.
 */
export function iterateStates<Row>(
  live: Pick<LiveQuery<Row>, 'subscribe'>,
): AsyncGenerator<LiveState<Row>, void, void> {
  let wake = (): void => undefined;
  const states = (async function* (): AsyncGenerator<LiveState<Row>, void, void> {
    let newest: LiveState<Row> | null = null;
    const unsubscribe = live.subscribe((state) => {
      newest = state;
      wake();
    });
    try {
      for (;;) {
        if (newest === null) await new Promise<void>((resolve) => (wake = resolve));
        const state = newest as LiveState<Row> | null;
        newest = null;
        if (state === null) return; // `return` was called.
        yield state;
        if (state.error?.code === 'client-closed') return;
      }
    } finally {
      unsubscribe();
    }
  })();
  const end = states.return.bind(states);
  states.return = (value) => {
    wake();
    return end(value);
  };
  return states;
}
