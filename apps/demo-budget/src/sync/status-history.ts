import type { Client, SyncState, SyncStatus } from '@rockpool/client';

/** A sync state, and when it began. */
export interface StatusEntry {
  readonly atMs: number;
  readonly state: SyncState;
  readonly status: SyncStatus;
}

const longest = 30;

/** The states since the page opened, newest first, with a listener for changes. */
export interface StatusHistory {
  readonly current: readonly StatusEntry[];
  subscribe(listener: () => void): () => void;
}

const histories = new WeakMap<Client, StatusHistory>();

/** The history of the client's sync states. Recording starts with the first call, which the app makes at startup. */
export function statusHistory(client: Client): StatusHistory {
  const known = histories.get(client);
  if (known !== undefined) return known;
  const listeners = new Set<() => void>();
  let entries: readonly StatusEntry[] = [];
  client.status.subscribe((status) => {
    const [last] = entries;
    // The number of unsent changes varies often, so a new entry begins only when the state changes.
    entries =
      last !== undefined && last.state === status.state
        ? [{ ...last, status }, ...entries.slice(1)]
        : [{ atMs: Date.now(), state: status.state, status }, ...entries].slice(0, longest);
    for (const listener of [...listeners]) listener();
  });
  const history: StatusHistory = {
    get current() {
      return entries;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  histories.set(client, history);
  return history;
}
