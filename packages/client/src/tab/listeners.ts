import { reportUncaught } from '../rpc/error-transfer.ts';

/** A set of listeners. If one of them throws, the others still receive the value. */
export interface Listeners<T> {
  readonly count: number;
  /** Adds a listener until the returned function is called. The same function may be added twice. */
  add(listener: (value: T) => void): () => void;
  emit(value: T): void;
}

export function createListeners<T>(): Listeners<T> {
  const entries = new Set<{ readonly listener: (value: T) => void }>();
  return {
    get count() {
      return entries.size;
    },
    add(listener) {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    emit(value) {
      for (const entry of [...entries]) {
        if (entries.has(entry)) callListener(entry.listener, value);
      }
    },
  };
}

/** Calls a listener of the app. An exception goes to the page's `error` event, like one in an event handler. */
export function callListener<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (thrown) {
    reportUncaught(thrown);
  }
}
