/**
 * A value that changes over time. The status, rejected changesets, live queries, presence and documents have this
 * shape. It fits React's `useSyncExternalStore` and Svelte's store contract.
 */
export interface Subscribable<T> {
  /**
   * The same object until the value changes. A live query and the history of a row run only while they have listeners:
   * without one, `current` is the loading state. Presence is empty until this tab subscribes or shows a state.
   */
  readonly current: T;
  /**
   * Calls the listener at once and after every change, until the returned function is called. If the value has to be
   * read first (a live query, rejected changesets), the listener is called as soon as the first result is known. Needs
   * no `this`.
   */
  subscribe(listener: (value: T) => void): () => void;
}
